// The forms of output that the command line shares with the studio: every command uses them.
@_exported import PersistInspection
