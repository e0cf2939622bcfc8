import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport

/// Another process that writes a store on a server or migrates it, to be killed at any moment.
///
/// - `OnlineRunner URL write VERSION NAME SEED FOLDER` writes and reads with the model of a version, whenever the store
///   serves it, and keeps a journal in the folder; see ``RolloutProgram``.
/// - `OnlineRunner URL expand|backfill|contract|abort VERSION FLIGHT before|after` performs a step of the migration to
///   a version, and kills itself at a flight, before or after the server has run it.
///
/// Ends with status 1 and a message after an error that nobody expects.
@main
struct OnlineRunner {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 4, let url = URL(string: arguments[1]),
      let version = Int(arguments[3]).flatMap(RolloutShop.Version.init)
    else { exit(2) }
    do {
      // From now on, URLs of servers are those of stores.
      _ = try StoreLocation.postgreSQL(arguments[1])
      switch (arguments[2], arguments.count) {
      case ("write", 7):
        try RolloutProgram(
          url, version, name: arguments[4], seed: UInt64(arguments[5]) ?? 0, folder: URL(fileURLWithPath: arguments[6])
        ).run()
      case (let step, 6):
        KilledFlight.install(Int(arguments[4]) ?? .max, isAfter: arguments[5] == "after")
        try migrate(url, to: version, step)
      default: exit(2)
      }
    } catch {
      FileHandle.standardError.write(Data("\(arguments[2...].joined(separator: " ")): \(error)\n".utf8))
      exit(1)
    }
  }

  private static func migrate(_ url: URL, to version: RolloutShop.Version, _ step: String) throws {
    let migration = OnlineMigration(storeAt: url, options: RolloutShop.options)
    switch step {
    case "expand": try migration.expand(to: RolloutShop.model(version))
    case "backfill":
      var pace = BackfillPace()
      pace.batchSize = 20
      try migration.backfill(pace: pace)
    case "contract":
      // The server may not have noticed yet that a program with the old model was killed.
      let deadline = ContinuousClock.now + .seconds(30)
      while true {
        do { _ = try migration.contract() } catch let error as PersistenceError
          where error.code == .storeBusy && ContinuousClock.now < deadline
        {
          Thread.sleep(forTimeInterval: 0.1)
          continue
        }
        return
      }
    case "abort": try migration.abort()
    default: exit(2)
    }
  }
}

/// The flight to a server at which this process is killed.
private enum KilledFlight {
  /// - Parameters:
  ///   - number: The number of flights before it.
  ///   - isAfter: Whether the server still runs it.
  static func install(_ number: Int, isAfter: Bool) {
    ServerDrivers.install(Driver(inner: ServerDrivers.current, number: number, isAfter: isAfter))
  }

  private static let count = LockProtected(0)

  private struct Driver: ServerDriver {
    let inner: any ServerDriver
    let number: Int
    let isAfter: Bool

    func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
      ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
        let present = KilledFlight.count.withLock { count in
          count += 1
          return count - 1
        }
        guard present == number else { return try connection.run(statements) }
        if isAfter { _ = try? connection.run(statements) }
        kill(getpid(), SIGKILL)
        return []
      }
    }
  }
}
