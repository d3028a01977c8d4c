"""Two documents of one kind side by side: what can be compared of logs, of profiles, of calculations, and the noise."""
