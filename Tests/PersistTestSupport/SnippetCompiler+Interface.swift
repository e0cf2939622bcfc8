import Foundation

extension SnippetCompiler {
  /// Whether a module is built beside the tests.
  public func hasModule(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: modules.appendingPathComponent("\(name).swiftmodule").path)
  }

  /// The public declarations and conformances of a built module and of the modules that are parts of it, one line each,
  /// sorted. Declarations that the documentation hides aren't included.
  public func publicInterface(of module: String) throws -> [String] {
    try withTemporaryFolder { folder in
      for part in module == "Persist" ? Self.partsOfPersist + [module] : [module] {
        let (status, text) = try run(
          "swift-symbolgraph-extract",
          [
            "-module-name", part, "-target", Self.target, "-minimum-access-level", "public",
            "-skip-synthesized-members", "-output-dir", folder.path,
          ])
        guard status == 0 else { throw Failure(output: text) }
      }
      let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      let graphs = try files.map { try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)) }
      let symbols = graphs.flatMap(\.symbols)
      let names = Dictionary(symbols.map { ($0.identifier.precise, $0.name) }, uniquingKeysWith: { first, _ in first })
      let declarations = symbols.map { symbol in
        let lines = symbol.declarationFragments.map(\.spelling).joined().split(whereSeparator: \.isNewline)
        return "\(symbol.name) | \(lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " "))"
      }
      let conformances = graphs.flatMap(\.relationships).compactMap { relationship -> String? in
        guard relationship.kind == "conformsTo", let name = names[relationship.source] else { return nil }
        let target = names[relationship.target] ?? relationship.targetFallback.map(asUsersSee) ?? relationship.target
        let isImplied = ["Copyable", "Escapable", "SendableMetatype", "BitwiseCopyable"].contains { target.hasSuffix($0) }
        return isImplied ? nil : "\(name) : \(target)"
      }
      return Set(declarations + conformances).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// The modules that Persist exports as parts of itself.
  private static let partsOfPersist = ["PersistModel", "PersistCore"]

  /// Returns the full name of a declaration as programs write it, which only import Persist.
  private func asUsersSee(_ name: String) -> String {
    for part in Self.partsOfPersist where name.hasPrefix("\(part).") { return "Persist\(name.dropFirst(part.count))" }
    return name
  }

  private static var target: String {
    #if arch(arm64)
      let architecture = "aarch64"
    #else
      let architecture = "x86_64"
    #endif
    return "\(architecture)-unknown-linux-gnu"
  }
}

/// The parts of a symbol graph that an interface consists of.
private struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable { let spelling: String }

    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]

    var name: String { pathComponents.joined(separator: ".") }
  }

  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]
}
