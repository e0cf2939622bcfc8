public import Foundation

/// A program of the package, to be run as a separate process.
public enum BuiltProgram {
  struct NotBuilt: Error, CustomStringConvertible {
    let places: [String]
    var description: String { "The program isn't built; looked at \(places.joined(separator: ", "))." }
  }

  struct Failure: Error, CustomStringConvertible {
    let name: String
    let status: Int32
    var description: String { "\(name) ended with status \(status)." }
  }

  /// The program beside the test bundle.
  public static func url(_ name: String) throws -> URL {
    let folders = [Bundle.main.bundleURL, URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()]
      + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
    let places = folders.map { $0.appendingPathComponent(name) }
    guard let place = places.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
      throw NotBuilt(places: places.map(\.path))
    }
    return place
  }

  /// Runs a program to its end, which must be successful.
  public static func run(_ name: String, _ arguments: String...) throws {
    let process = TestRun.newProcess()
    process.executableURL = try url(name)
    process.arguments = arguments
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(name: name, status: process.terminationStatus) }
  }
}
