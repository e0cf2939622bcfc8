public import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The run of tests that this process belongs to.
///
/// An interrupted run leaves no process behind, however it ends, `SIGKILL` included:
///
/// - Processes started by tests come from ``newProcess()``, which marks their environment. A shell waits for the end of
///   the run and then kills everything with the mark, such as the compilers started by a build.
/// - A run started by `swift test` ends when that does.
public enum TestRun {
  /// The variable that contains the marks of the runs to which a process belongs.
  private static let variable = "PERSIST_TEST_RUN"
  private static let mark = UUID().uuidString
  /// Started on first use: a shell, and the end of the pipe that it reads. The pipe closes when this process ends.
  private static let watchdog: Pipe? = startWatchdog()

  /// A process that ends no later than the run. The caller sets what it runs.
  public static func newProcess() -> Process {
    begin()
    let process = Process()
    let environment = ProcessInfo.processInfo.environment
    var own = [variable: "\(environment[variable] ?? "") \(mark)"]
    own[TestKey.variable] = TestKey.passphrase
    process.environment = environment.merging(own) { $1 }
    return process
  }

  /// Runs a program in a folder.
  ///
  /// - Returns: What it printed to standard output.
  /// - Throws: ``ProgramFailed`` if its status isn't 0.
  public static func output(of program: URL, in folder: URL) throws -> String {
    let process = newProcess()
    process.executableURL = program
    process.currentDirectoryURL = folder
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ProgramFailed(status: process.terminationStatus, output: text)
    }
    return text
  }

  /// Runs a program that prints a line of five letters when it begins, and waits for its end.
  ///
  /// - Parameters:
  ///   - change: Completes the environment.
  ///   - moment: The time after the line, in seconds, at which the program is killed; nil for never.
  /// - Returns: The time from the line to the end in seconds; nil as the status if the program was killed.
  public static func run(
    _ program: URL, _ arguments: [String], environment: [String: String], killedAfter moment: TimeInterval?
  ) throws -> (seconds: TimeInterval, status: Int32?) {
    let process = newProcess()
    process.executableURL = program
    process.arguments = arguments
    process.environment?.merge(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    _ = try output.fileHandleForReading.read(upToCount: 6)
    let start = Date()
    if let moment {
      Thread.sleep(forTimeInterval: moment)
      // The identifier of a process that has ended may be another's.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    process.waitUntilExit()
    let wasKilled = process.terminationReason == .uncaughtSignal
    return (Date().timeIntervalSince(start), wasKilled ? nil : process.terminationStatus)
  }

  /// A program that a test ran has failed.
  public struct ProgramFailed: Error {
    let status: Int32
    let output: String
  }

  /// Monitors the run from now on; further calls do nothing.
  public static func begin() { _ = (endingWithTool, watchdog) }

  /// Removes a folder when this process ends by itself.
  public static func removeAtEnd(_ folder: URL) {
    _ = removing
    foldersToRemove.withLock { $0.append(folder) }
  }

  private static let foldersToRemove = Mutex<[URL]>([])
  private static let removing: Void = {
    _ = atexit { TestRun.foldersToRemove.withLock { $0 }.forEach { try? FileManager.default.removeItem(at: $0) } }
  }()

  /// Ends this process soon after the one that started it has ended, as needed by the body of a long exit test: such a
  /// process isn't a ``newProcess()``.
  public static func endWithParent() { _ = endingWithParent }

  private static let endingWithTool: Void = {
    let parent = getppid()
    let name = (try? String(contentsOfFile: "/proc/\(parent)/comm", encoding: .utf8)) ?? ""
    // A run started manually may outlive its shell.
    if name.hasPrefix("swift-") { endWhenGone(parent) }
  }()

  private static let endingWithParent: Void = {
    // A test's process is never process 1: in that case the parent has already ended.
    if getppid() == 1 { kill(getpid(), SIGKILL) }
    endWhenGone(getppid())
  }()

  private static func endWhenGone(_ parent: pid_t) {
    let thread = Thread {
      while getppid() == parent { Thread.sleep(forTimeInterval: 0.5) }
      kill(getpid(), SIGKILL)
    }
    thread.name = "End with parent"
    thread.start()
  }

  private static func startWatchdog() -> Pipe? {
    let script = """
      trap '' INT TERM HUP
      while read -r _; do :; done
      for round in 1 2 3 4 5 6 7 8 9 10; do
        if [ -d /proc/self ]; then
          found=$(grep -lsF -e "$1" /proc/[0-9]*/environ | cut -d / -f 3)
        else
          found=$(ps -axEww -o pid=,command= | grep -F -e "$1" | grep -v grep | awk '{print $1}')
        fi
        [ -n "$found" ] || exit 0
        kill -9 $found
        sleep 0.1
      done
      """
    let (process, pipe) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", script, "sh", mark]
    process.environment = ProcessInfo.processInfo.environment.filter { $0.key != variable }
    process.standardInput = pipe.fileHandleForReading
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    // Otherwise a child that has the pipe too would keep it open after the run.
    _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    do { try process.run() } catch { return nil }
    return pipe
  }
}

extension Process {
  /// A process exceeded its time limit.
  struct Overtime: Error, CustomStringConvertible {
    let program: String
    let limit: Duration
    var description: String { "\(program) was still running after \(limit), and was killed." }
  }

  /// Waits for the process to end, and kills it if it takes too long.
  ///
  /// - Parameters:
  ///   - limit: The maximum wait.
  ///   - progress: Advances every second, to show that the wait continues.
  public func waitUntilExit(within limit: Duration, reporting progress: LongLoop? = nil) throws {
    let start = ContinuousClock.now
    var second = start
    while isRunning {
      Thread.sleep(forTimeInterval: 0.005)
      if ContinuousClock.now - second > .seconds(1) {
        second = .now
        progress?.advance()
      }
      guard ContinuousClock.now - start > limit else { continue }
      kill(processIdentifier, SIGKILL)
      waitUntilExit()
      throw Overtime(program: executableURL?.lastPathComponent ?? "A process", limit: limit)
    }
    waitUntilExit()
  }
}
