import Foundation
import Persist

/// A checkout of Persist in which this program was built. It contains the sources of the studio.
struct StudioCheckout {
  private let root: URL
  /// The folder of the build that contains this program, below the checkout: `.build/x86_64-unknown-linux-gnu/debug`.
  private let buildFolder: [String]
  /// The studio's program, which is built beside this one.
  let program: URL
  /// The program's name, which is that of its product.
  private let name: String

  /// - Parameters:
  ///   - name: The name of the studio's program.
  ///   - program: The file of this program, without symbolic links.
  /// - Returns: nil if no folder that contains the program is a checkout, or if it wasn't built there.
  init?(of name: String, containing program: URL) {
    let folder = program.deletingLastPathComponent()
    var root = folder
    var buildFolder: [String] = []
    while root.pathComponents.count > 1 {
      buildFolder.insert(root.lastPathComponent, at: 0)
      let scratch = root
      root.deleteLastPathComponent()
      // The package manager keeps its state in the folder of its builds.
      let signs = [
        root.appendingPathComponent("Package.swift"), root.appendingPathComponent("Studio/Sources"),
        scratch.appendingPathComponent("workspace-state.json"),
      ]
      guard signs.allSatisfy({ FileManager.default.fileExists(atPath: $0.path) }) else { continue }
      self.root = root
      self.buildFolder = buildFolder
      self.name = name
      self.program = folder.appendingPathComponent(ProgramLaunch.fileName(of: name))
      return
    }
    return nil
  }

  /// A file with the time of the last build. Not every source of the checkout changes the program.
  private var stamp: URL { program.appendingPathExtension("built") }

  /// Whether the program was built after the last change of every source.
  var isBuilt: Bool {
    guard FileManager.default.isExecutableFile(atPath: program.path),
      let built = [program, stamp].compactMap(Self.date).max()
    else { return false }
    let folders = ["Sources", "Studio/Sources"].map { root.appendingPathComponent($0, isDirectory: true) }
    let files = folders.flatMap { folder in
      FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.contentModificationDateKey])?
        .compactMap { $0 as? URL } ?? []
    }
    let manifest = root.appendingPathComponent("Package.swift")
    return ([manifest] + files).allSatisfy { file in (Self.date(of: file) ?? .distantPast) <= built }
  }

  private static func date(of file: URL) -> Date? {
    (try? file.resourceValues(forKeys: [.contentModificationDateKey]))?.contentModificationDate
  }

  static var compiler: URL? { ProgramLaunch.find("swift") }

  /// Builds the program in the configuration of this one, with the progress on standard error.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess` if there is no compiler, or if it fails.
  func build() throws {
    guard let compiler = Self.compiler else {
      throw PersistenceError(
        .fileAccess, at: .file(root),
        "The studio isn't built yet, and no folder of PATH contains 'swift' to build it.",
        fix: "Add the folder of the Swift compiler to PATH.")
    }
    let arguments = [
      "build", "--package-path", root.path, "--scratch-path", root.appendingPathComponent(buildFolder[0]).path,
      "--product", name, "--configuration", buildFolder.last == "release" ? "release" : "debug",
    ] + Self.traits
    let start = Date()
    if let reason = try run(compiler, arguments) { throw failure(reason, arguments) }
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw failure("the build has no file '\(program.path)'.", arguments)
    }
    try Data().write(to: stamp)
    try FileManager.default.setAttributes([.modificationDate: start], ofItemAtPath: stamp.path)
  }

  /// The traits that this program was built with.
  private static var traits: [String] {
    #if SQLCipher
      ["--traits", "SQLCipher"]
    #else
      []
    #endif
  }

  /// Runs the compiler to its end.
  ///
  /// - Returns: Its first error, or the end of its output, if it fails; otherwise nil.
  private func run(_ compiler: URL, _ arguments: [String]) throws -> String? {
    var bar = ProgressBar("building the studio")
    if !bar.isShown { StandardError.print("Building the studio, which takes a minute the first time.") }
    var log = BuildLog()
    let status = try ProgramLaunch.run(compiler, arguments) { data in
      log.append(data)
      bar.show(log.fraction, detail: log.step)
    }
    bar.finish()
    return status == 0 ? nil : log.reason
  }

  private func failure(_ reason: String, _ arguments: [String]) -> PersistenceError {
    PersistenceError(
      .fileAccess, at: .file(root), "The studio can't be built: \(reason)",
      fix: "Run 'swift \(arguments.joined(separator: " "))' to see everything that the compiler says.")
  }
}
