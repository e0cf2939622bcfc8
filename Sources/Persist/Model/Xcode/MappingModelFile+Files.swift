package import Foundation

extension MappingModelFile {
  /// Reads the step that a mapping model applies to; its mappings are read when they are needed.
  ///
  /// - Parameter url: an `.xcmappingmodel` folder or a `.cdm` file.
  package init(at url: URL) throws {
    if url.pathExtension.lowercased() == "cdm" {
      let header = try CompiledMappingModel.header(at: url)
      self.init(
        name: url.stem, url: url, sourceHashes: header.sourceHashes, destinationHashes: header.destinationHashes)
      return
    }
    let file = url.appendingPathComponent("xcmapping.xml")
    let root = try MarkupReader.root(of: file)
    let objects = root.children.filter { $0.attributes["type"] == "XDDEVMAPPINGMODEL" }
    guard root.name == "database", let object = objects.first, objects.count == 1 else {
      throw PersistenceError(
        .malformedFile, at: .file(file, line: root.line),
        "The file must contain exactly one mapping model; it has \(objects.count).")
    }
    let source = try Self.path("sourcemodelpath", of: object, in: file)
    let destination = try Self.path("destinationmodelpath", of: object, in: file)
    self.init(
      name: url.stem, url: url, sourceVersion: source.stem, destinationVersion: destination.stem,
      familyName: Self.family(of: source) ?? Self.family(of: destination))
  }

  private static func path(_ name: String, of object: MarkupElement, in file: URL) throws -> URL {
    let texts = object.children(named: "attribute").filter { $0.attributes["name"] == name }.map(\.text)
    guard let text = texts.first?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else {
      throw PersistenceError(
        .malformedFile, at: .file(file, line: object.line), "The mapping model doesn't specify its '\(name)'.",
        fix: "Choose the models again in Xcode.")
    }
    return URL(fileURLWithPath: text)
  }

  /// Returns the family whose folder is in a version's path.
  private static func family(of path: URL) -> String? {
    let folder = path.deletingLastPathComponent()
    return ["xcdatamodeld", "momd"].contains(folder.pathExtension.lowercased()) ? folder.stem : nil
  }
}
