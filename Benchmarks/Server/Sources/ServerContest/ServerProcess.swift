import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The server as a process of its own, beside this program's file.
final class ServerProcess {
  let contestant: Contestant
  let port: Int
  private let process: Process

  static var program: URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent("CatalogueServer")
  }

  /// Creates the file that every server gets a copy of.
  static func fill(_ file: URL) throws {
    let process = Process()
    process.executableURL = program
    process.arguments = ["--fill", file.path]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw ContestError("The file couldn't be filled.") }
  }

  /// Starts a server on a file, and waits until it answers.
  init(_ contestant: Contestant, on file: URL, synchronous: String) async throws {
    self.contestant = contestant
    port = Int.random(in: 20_000..<60_000)
    process = Process()
    process.executableURL = Self.program
    process.arguments = [
      "--contestant", contestant.rawValue, "--port", "\(port)", "--synchronous", synchronous, file.path,
    ]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    for _ in 0..<200 {
      guard process.isRunning else { throw ContestError("The server over \(contestant.name) ended.") }
      if let answer = try? await send("GET", "health"), answer.status == 200 { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    stop()
    throw ContestError("The server over \(contestant.name) didn't answer for 10 seconds.")
  }

  deinit { stop() }

  var address: String { "http://127.0.0.1:\(port)" }

  func send(_ method: String, _ path: String, body: String? = nil) async throws -> (status: Int, body: Data) {
    guard let url = URL(string: "\(address)/\(path)") else { throw ContestError("'\(path)' isn't a path.") }
    var request = URLRequest(url: url)
    request.httpMethod = method
    if let body {
      request.httpBody = Data(body.utf8)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, response) = try await URLSession.shared.data(for: request)
    guard let response = response as? HTTPURLResponse else { throw ContestError("There was no answer.") }
    return (response.statusCode, data)
  }

  /// Ends the server, and waits for its end.
  func stop() {
    guard process.isRunning else { return }
    process.terminate()
    let limit = ContinuousClock.now + .seconds(10)
    while process.isRunning, ContinuousClock.now < limit { Thread.sleep(forTimeInterval: 0.01) }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }
}
