"""How is the outside world reached? SSH, local processes, files, clock. Imports workflows and below."""
