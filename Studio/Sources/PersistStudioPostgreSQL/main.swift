import Persist
import PersistPostgreSQL
import StudioServer

/// The program `persist-studio-postgresql`: the studio for stores on servers.
await StudioProgram(
  named: "persist-studio-postgresql", readingServers: { try StoreLocation.postgreSQL($0) }
).run(CommandLine.arguments.dropFirst())
