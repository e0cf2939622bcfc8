import Foundation
import Persist
import PersistTestSupport
import PersistTools

#if canImport(Darwin)
  import Darwin
#endif

/// Another process that migrates a store, to be killed at any moment or to be measured: prints `ready`, migrates, and
/// prints the number of bytes by which its peak memory grew.
///
/// `MigrationRunner STORE WAY [SECONDS]`, the maximum wait for others. A store is a file or the URL of a server.
///
/// `MigrationRunner STORE --rekey` changes the key of a store from the text in `PERSIST_OLD_KEY` to that in
/// `PERSIST_NEW_KEY`.
///
/// `MigrationRunner FILE --start-marked` and `--start-other` simulate an interrupted test run: they start a
/// long-running process, print its number, and wait to be killed. `FILE --wait` is that other process.
@main
struct MigrationRunner {
  static func main() throws {
    let arguments = CommandLine.arguments
    if arguments.count == 3, arguments[2] == "--rekey" { return try changeKey(of: arguments[1]) }
    if arguments.count == 3, arguments[2].hasPrefix("--") { return try interruptedRun(arguments[1], arguments[2]) }
    guard arguments.count > 2, let way = MigrationScenario.Way(rawValue: arguments[2]) else { exit(2) }
    let scenario = try MigrationScenario(way)
    let before = greatestMemory
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    let wait = arguments.count > 3 ? Double(arguments[3]) ?? 0 : 0.05
    try scenario.migrate(storeURL(ofArgument: arguments[1]), options: StoreOptions(busyTimeout: .seconds(wait)))
    FileHandle.standardOutput.write(Data("\(greatestMemory - before)\n".utf8))
  }

  private static func changeKey(of store: String) throws {
    @Sendable func key(_ name: String) -> [UInt8] {
      TestKey.bytes(of: ProcessInfo.processInfo.environment[name] ?? "")
    }
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    try StoreLocation.file(URL(fileURLWithPath: store)).changeKey(
      from: { .raw(key("PERSIST_OLD_KEY")) }, to: { .raw(key("PERSIST_NEW_KEY")) })
  }

  private static func interruptedRun(_ file: String, _ mode: String) throws {
    let child: Process
    switch mode {
    case "--start-marked":
      child = TestRun.newProcess()
      child.executableURL = try BuiltProgram.url("SQLRunner")
      child.arguments = [file, "--watch", file + ".stop", "SELECT 1"]
      child.standardOutput = FileHandle.nullDevice
    case "--start-other":
      child = Process()
      child.executableURL = try BuiltProgram.url("MigrationRunner")
      child.arguments = [file, "--wait"]
    default:
      TestRun.endWithParent()
      // Only now: before this, nothing monitors this process.
      FileHandle.standardOutput.write(Data("\(ProcessInfo.processInfo.processIdentifier)\n".utf8))
      return Thread.sleep(forTimeInterval: 600)
    }
    try child.run()
    if mode == "--start-marked" {
      FileHandle.standardOutput.write(Data("\(child.processIdentifier)\n".utf8))
    }
    Thread.sleep(forTimeInterval: 600)
  }

  /// In bytes.
  private static var greatestMemory: Int {
    #if canImport(Darwin)
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    #endif
  }
}
