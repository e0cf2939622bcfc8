import Foundation

/// The server as a process of its own, beside this program's file.
struct ServerProcess {
  let client: Client
  private let process = Process()
  private let watchdog = Process()

  /// Starts the server, and waits until it answers.
  init(in folder: URL) async throws {
    let port = Int.random(in: 20_000..<60_000)
    client = Client(port: port)
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("NotesServer")
    process.environment = ProcessInfo.processInfo.environment.merging([
      "NOTES_FOLDER": folder.path, "NOTES_PORT": "\(port)", "LOG_LEVEL": "warning",
    ]) { $1 }
    process.standardInput = FileHandle.nullDevice
    try process.run()
    try watch()
    for _ in 0..<600 {
      if !process.isRunning { throw Complaint(text: "The server ended with status \(process.terminationStatus).") }
      if let answer = try? await client.send("GET", "health"), answer.status == 200 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    _ = try stop(by: SIGKILL)
    throw Complaint(text: "The server didn't answer for 30 seconds.")
  }

  /// Ends the server when this program has ended, however that happens: the pipe closes then.
  private func watch() throws {
    watchdog.executableURL = URL(fileURLWithPath: "/bin/sh")
    watchdog.arguments = ["-c", "trap '' INT; read -r _; kill -9 \(process.processIdentifier)"]
    watchdog.standardInput = Pipe()
    watchdog.standardError = FileHandle.nullDevice
    try watchdog.run()
  }

  /// - Returns: the exit status, or the signal that ended it.
  func stop(by signal: Int32) throws -> Int32 {
    kill(process.processIdentifier, signal)
    let limit = ContinuousClock.now + .seconds(30)
    while process.isRunning {
      guard ContinuousClock.now < limit else {
        kill(process.processIdentifier, SIGKILL)
        throw Complaint(text: "The server was still running 30 seconds after the signal \(signal).")
      }
      Thread.sleep(forTimeInterval: 0.01)
    }
    kill(watchdog.processIdentifier, SIGKILL)
    return process.terminationStatus
  }
}
