public import Foundation

extension SnippetCompiler {
  /// What the compiler has to say, errors and warnings, of sources that are a module together; empty for nothing.
  public func messages(ofModule files: [URL], compiledWith arguments: [String] = []) throws -> [String] {
    let (status, text) = try run(
      ["-emit-sil", "-o", "/dev/null", "-parse-as-library", "-wmo", "-module-name", "Snippets"] + arguments
        + files.map(\.path))
    let messages = Self.messages(in: text)
    guard status == 0 || !messages.isEmpty else { throw Failure(output: text) }
    return messages
  }

  private static func messages(in text: String) -> [String] {
    // The tests' own modules aren't built for library evolution; what is asked is whether the sources can be.
    text.split(separator: "\n").map(String.init).filter { line in
      (line.contains(": error: ") || line.contains(": warning: ")) && !line.contains("library evolution support")
    }
  }

  /// Builds a program of sources, one of which is `main.swift`, with the libraries of this package.
  ///
  /// - Returns: what the compiler warns of.
  public func build(_ files: [URL], into program: URL, compiledWith arguments: [String] = []) throws -> [String] {
    let (status, text) = try run(
      ["-Onone", "-wmo", "-module-name", "Program", "-o", program.path] + arguments + files.map(\.path)
        + libraryObjects() + ["-lsqlite3", "-lz"])
    guard status == 0 else { throw Failure(output: text) }
    return Self.messages(in: text)
  }

  /// The object files of the libraries, beside their modules.
  private func libraryObjects() throws -> [String] {
    let folder = modules.deletingLastPathComponent()
    let libraries = [
      "Persist", "PersistMacrosless", "Logging", "ContainersPreview", "DequeModule", "OrderedCollections",
      "InternalCollectionsUtilities",
    ]
    return try libraries.flatMap { library in
      try Self.objects(listedIn: folder.appendingPathComponent("\(library).build/output-file-map.json"))
        .map { folder.appendingPathComponent("\(library).build/\($0)").path }
    }
  }

  /// The names of a module's object files. Its folder may hold those of sources that are gone, too.
  private static func objects(listedIn map: URL) throws -> [String] {
    let outputs = try JSONDecoder().decode([String: [String: String]].self, from: Data(contentsOf: map))
    return outputs.values.compactMap { $0["object"] }.map { URL(fileURLWithPath: $0).lastPathComponent }.sorted()
  }
}
