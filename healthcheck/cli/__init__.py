"""What did the user ask for? One file a command. Imports everything."""
