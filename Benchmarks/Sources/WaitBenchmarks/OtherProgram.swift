import Foundation
import Persist

/// Another program that uses the file, in a process of its own. It reads the pauses between its operations, and prints
/// its times at the end of its input.
final class OtherProgram {
  enum Kind: String {
    case persist, plain
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts a program, and returns when it uses the file.
  init(_ kind: Kind, _ url: URL, _ waitCase: WaitCase, rows: Int) throws {
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [
      "--other", kind.rawValue, "--file", url.path, "--case", waitCase.name, "--rows", String(rows),
    ]
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    guard output.fileHandleForReading.availableData == Data("ready\n".utf8) else {
      throw WaitError("The other program didn't start.")
    }
  }

  func slowDown(_ pause: Double) throws { try input.fileHandleForWriting.write(contentsOf: Data("\(pause)\n".utf8)) }

  func end() throws -> ProgramSamples {
    try input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return try JSONDecoder().decode(ProgramSamples.self, from: data)
  }

  /// Runs as the other program.
  static func run(_ kind: Kind, _ url: URL, _ waitCase: WaitCase, rows: Int) throws {
    let program: WaitingProgram
    switch kind {
    case .plain: program = WaitingProgram(plain: url, rows: rows)
    case .persist:
      let registry = try waitCase.registry
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model, registry: registry)
      try coordinator.addStore(at: url, options: WaitCase.options(later: true))
      program = WaitingProgram(coordinator, rows: rows)
    }
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    while let line = readLine() {
      if let pause = Double(line) { program.slowDown(pause) }
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(program.end()))
  }
}
