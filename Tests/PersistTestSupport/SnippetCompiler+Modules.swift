public import Foundation

extension SnippetCompiler {
  /// The compiler's errors and warnings for sources that form a module; empty for none.
  public func messages(ofModule files: [URL], compiledWith arguments: [String] = []) throws -> [String] {
    let (status, text) = try run(
      ["-emit-sil", "-o", "/dev/null", "-parse-as-library", "-wmo", "-module-name", "Snippets"] + arguments
        + files.map(\.path))
    let messages = Self.messages(in: text)
    guard status == 0 || !messages.isEmpty else { throw Failure(output: text) }
    return messages
  }

  private static func messages(in text: String) -> [String] {
    // The tests' own modules aren't built for library evolution; the question is whether the sources can be.
    text.split(separator: "\n").map(String.init).filter { line in
      (line.contains(": error: ") || line.contains(": warning: ")) && !line.contains("library evolution support")
    }
  }

  /// Builds a program from sources, one of which is `main.swift`, with the libraries of this package.
  ///
  /// - Returns: The compiler's warnings.
  public func build(_ files: [URL], into program: URL, compiledWith arguments: [String] = []) throws -> [String] {
    let library = try Self.library.get()
    let folder = library.deletingLastPathComponent().path
    let (status, text) = try run(
      ["-Onone", "-wmo", "-module-name", "Program", "-o", program.path] + arguments + files.map(\.path)
        + [library.path, "-Xlinker", "-rpath", "-Xlinker", folder])
    guard status == 0 else { throw Failure(output: text) }
    return Self.messages(in: text)
  }

  /// The package's libraries as one file, which programs load. Linking their object files with each program would take
  /// several times as long as compiling it.
  private static let library = Result {
    guard let shared else { throw Failure(output: "There is no compiler.") }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-snippets-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    TestRun.removeAtEnd(folder)
    let library = folder.appendingPathComponent("libPrograms.so")
    let (status, text) = try shared.run(
      ["-emit-library", "-o", library.path, "-Xlinker", "--strip-debug"] + shared.libraryObjects()
        + ["-lsqlite3", "-lz"])
    guard status == 0 else { throw Failure(output: text) }
    return library
  }

  /// The object files of the libraries, beside their modules.
  private func libraryObjects() throws -> [String] {
    let folder = modules.deletingLastPathComponent()
    let libraries = [
      "Persist", "PersistCore", "PersistModel", "PersistMacrosless", "PersistDocuments", "PersistTools",
      "PersistTesting", "Logging",
    ]
    return try libraries.flatMap { library in
      try Self.objects(listedIn: folder.appendingPathComponent("\(library).build/output-file-map.json"))
        .map { folder.appendingPathComponent("\(library).build/\($0)").path }
    }
  }

  /// The names of a module's object files. Its folder may also contain those of deleted sources.
  private static func objects(listedIn map: URL) throws -> [String] {
    let outputs = try JSONDecoder().decode([String: [String: String]].self, from: Data(contentsOf: map))
    return outputs.values.compactMap { $0["object"] }.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted()
  }
}
