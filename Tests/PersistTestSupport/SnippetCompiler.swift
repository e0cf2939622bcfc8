public import Foundation
public import Testing

/// Runs the compiler on single files, with the modules of the build that the tests are part of.
///
/// This includes the checks for data races, which come after type checking and are omitted by `-typecheck`.
public struct SnippetCompiler: Sendable {
  let compiler: URL
  let modules: URL

  /// Nil if there is no compiler in `PATH`, or the modules aren't beside the tests.
  public static let shared: SnippetCompiler? = {
    guard let compiler = findCompiler(), let modules = findModules() else { return nil }
    return SnippetCompiler(compiler: compiler, modules: modules)
  }()

  private static func findCompiler() -> URL? {
    let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
    return folders.lazy.map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
      .first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// The folder of built modules: above the test bundle, which the arguments name on every platform.
  private static func findModules() -> URL? {
    for argument in CommandLine.arguments where argument.contains(".xctest") {
      var folder = URL(fileURLWithPath: argument).standardizedFileURL
      while folder.path != "/" {
        folder.deleteLastPathComponent()
        let modules = folder.appendingPathComponent("Modules")
        if FileManager.default.fileExists(atPath: modules.appendingPathComponent("Persist.swiftmodule").path) {
          return modules
        }
      }
    }
    return nil
  }

  /// The errors of a file, with their lines.
  ///
  /// - Parameters:
  ///   - file: The file to compile.
  ///   - isScript: Whether the file may have statements outside of functions.
  ///   - arguments: Further arguments for the compiler.
  public func errors(
    in file: URL, isScript: Bool = false, compiledWith arguments: [String] = []
  ) throws -> [Snippet.Finding] {
    let (status, text) = try run(
      ["-emit-sil", "-o", "/dev/null", "-module-name", "Snippet"] + (isScript ? [] : ["-parse-as-library"]) + arguments
        + [file.path])
    let errors = text.split(separator: "\n").compactMap { Self.finding(in: $0, of: file) }
    guard status == 0 || !errors.isEmpty else { throw Failure(output: text) }
    return errors
  }

  /// The arguments that let a file import `PackageDescription`, like a package's manifest; nil if the compiler's folder
  /// has no such module.
  public var manifestArguments: [String]? {
    let module = compiler.resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("lib/swift/pm/ManifestAPI")
    guard FileManager.default.fileExists(atPath: module.path) else { return nil }
    return ["-I", module.path, "-package-description-version", "6.1.0"]
  }

  /// Runs the compiler in Swift 6 mode, with the built modules available.
  ///
  /// - Returns: Its exit status, and its output.
  func run(_ arguments: [String]) throws -> (status: Int32, text: String) {
    try run(compiler, ["-swift-version", "6", "-no-color-diagnostics"] + Sanitizer.compilerArguments, arguments)
  }

  /// Runs a tool that is installed beside the compiler, with the built modules available.
  func run(_ tool: String, _ arguments: [String]) throws -> (status: Int32, text: String) {
    try run(
      compiler.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(tool), [], arguments)
  }

  private func run(_ program: URL, _ options: [String], _ arguments: [String]) throws -> (status: Int32, text: String) {
    let process = TestRun.newProcess()
    process.executableURL = program
    process.arguments = options + ["-I", modules.path] + Self.moduleMaps + arguments
    let output = Pipe()
    process.standardError = output
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  /// The system libraries on which the modules are built.
  private static var moduleMaps: [String] {
    let maps = ["CSQLite", "CSQLCipher", "CZlib", "CPostgreSQL"].flatMap { name in
      let map = PackageFolder.url.appendingPathComponent("Sources/\(name)/module.modulemap").path
      return ["-Xcc", "-fmodule-map-file=\(map)"]
    }
    let unpacked = PackageFolder.url.appendingPathComponent(".build/sqlcipher/root/usr/include").path
    return maps + ["-I", "/usr/include/postgresql", "-I", unpacked]
  }

  /// A line such as `…/File.swift:7:3: error: text`.
  private static func finding(in line: Substring, of file: URL) -> Snippet.Finding? {
    guard let name = line.range(of: "\(file.lastPathComponent):"),
      let mark = line.range(of: ": error: ", range: name.upperBound..<line.endIndex),
      let number = line[name.upperBound..<mark.lowerBound].split(separator: ":").first.flatMap({ Int($0) })
    else { return nil }
    return Snippet.Finding(line: number, text: String(line[mark.upperBound...]))
  }

  /// The compiler failed for another reason than an error in the file.
  public struct Failure: Error, CustomStringConvertible {
    let output: String
    public var description: String { "The compiler failed: \(output)" }
  }
}

extension Trait where Self == ConditionTrait {
  /// Runs a test only if the compiler and the built modules are found.
  public static var needsCompiler: Self {
    .enabled(
      if: SnippetCompiler.shared != nil,
      "Needs 'swiftc' in PATH, and the built modules beside the test bundle.")
  }
}
