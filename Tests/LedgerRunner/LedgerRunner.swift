import Foundation
import PersistTestSupport

/// Another process that writes a shared ledger or reads it, to be killed at any moment.
///
/// - `LedgerRunner FILE write NAME SEED JOURNAL STOP` writes at random until there is a file STOP.
/// - `LedgerRunner FILE read STOP` reads state after state until there is a file STOP.
///
/// Both end with a status other than 0 and a message when something is lost or was never true.
@main
struct LedgerRunner {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { exit(2) }
    let store = storeURL(ofArgument: arguments[1])
    do {
      switch (arguments[2], arguments.count) {
      case ("write", 7):
        var writer = try LedgerWriter(
          store, name: arguments[3], seed: UInt64(arguments[4]) ?? 0, journal: URL(fileURLWithPath: arguments[5]))
        while !FileManager.default.fileExists(atPath: arguments[6]) {
          try writer.write()
          Thread.sleep(forTimeInterval: 0.002)
        }
      case ("read", 4):
        var reader = try LedgerReader(store)
        while !FileManager.default.fileExists(atPath: arguments[3]) { try reader.read() }
      default: exit(2)
      }
    } catch {
      FileHandle.standardError.write(Data("\(arguments[2...].joined(separator: " ")): \(error)\n".utf8))
      exit(1)
    }
  }
}
