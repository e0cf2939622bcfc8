import Foundation
import Synchronization

/// A program beside this one's file, as a process of its own.
final class Child: Sendable {
  // Sendable: a process may be signalled and awaited in any thread.
  private struct Handles: @unchecked Sendable {
    let process = Process()
    let watchdog = Process()
    let input = Pipe()
    let output = Pipe()
  }

  private let handles = Handles()
  private let received = Mutex(Data())

  /// - Parameter log: The file to which the program writes its messages.
  init(_ program: String, _ arguments: [String], _ environment: [String: String], log: FileHandle) throws {
    let process = handles.process
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent(program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardInput, process.standardOutput, process.standardError) = (handles.input, handles.output, log)
    try process.run()
    try watch()
  }

  /// Ends the process when this program has ended, however that happens: the pipe closes then.
  private func watch() throws {
    let watchdog = handles.watchdog
    watchdog.executableURL = URL(fileURLWithPath: "/bin/sh")
    watchdog.arguments = ["-c", "trap '' INT; read -r _; kill -9 \(handles.process.processIdentifier)"]
    (watchdog.standardInput, watchdog.standardError) = (Pipe(), FileHandle.nullDevice)
    try watchdog.run()
  }

  var isRunning: Bool { handles.process.isRunning }

  func send(_ signal: Int32) {
    if isRunning { kill(handles.process.processIdentifier, signal) }
  }

  /// Ends the process by a signal after some time, wherever it is then.
  func end(after delay: Duration) {
    DispatchQueue.global().asyncAfter(deadline: .now() + delay / .seconds(1)) { self.send(SIGKILL) }
  }

  /// Waits until the process has ended.
  ///
  /// - Returns: The exit status, or the signal that ended it.
  @discardableResult
  func wait() -> Int32 {
    while isRunning { Thread.sleep(forTimeInterval: 0.002) }
    kill(handles.watchdog.processIdentifier, SIGKILL)
    try? handles.input.fileHandleForWriting.close()
    return handles.process.terminationStatus
  }

  /// Sends words as a line, and reads the lines of the answer.
  ///
  /// - Returns: Nil if the process has ended before the end of the answer.
  func ask(_ words: String...) -> [String]? {
    do {
      try handles.input.fileHandleForWriting.write(contentsOf: Data("\(words.joined(separator: "\t"))\n".utf8))
    } catch {
      return nil
    }
    var lines: [String] = []
    while let line = nextLine() {
      lines.append(line)
      if line == "ok" || line.hasPrefix("failed: ") { return lines }
    }
    return nil
  }

  /// Everything that the process still writes.
  func rest() -> [String] {
    var lines: [String] = []
    while let line = nextLine() { lines.append(line) }
    return lines
  }

  private func nextLine() -> String? {
    received.withLock { received in
      while true {
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
          defer { received = Data(received[(end + 1)...]) }
          return String(decoding: received[..<end], as: UTF8.self)
        }
        let more = handles.output.fileHandleForReading.availableData
        guard !more.isEmpty else { return nil }
        received += more
      }
    }
  }
}
