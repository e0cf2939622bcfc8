package import Foundation

/// Reads the XML of an `.xcdatamodel`, as Xcode has written it since version 4.
///
/// Missing XML attributes have Xcode's defaults, which aren't always a description's: a property without `optional` is
/// required. Unknown attributes and elements are preserved in `unknown`; the positions of boxes in Xcode's diagram
/// aren't part of a model and are skipped.
///
/// Xcode doesn't check everything that it writes, so the reader is strict only if a store would otherwise be incorrect:
/// with different tables or delete rules, or without a constraint. Everything else that can't be read is omitted with a
/// warning.
package struct XMLModelReader {
  let log: XMLProblems

  /// - Parameter url: an `.xcdatamodel` folder or the `contents` file in it.
  /// - Throws: ``PersistenceError/Code/malformedFile`` with all problems of the file, each with file, line and the
  ///   expected content.
  static func model(at url: URL) throws -> ParsedModel {
    let file = try contents(of: url)
    return try model(from: MarkupReader.root(of: file), file: file)
  }

  /// - Parameter file: the file to name in errors.
  package static func model(from root: MarkupElement, file: URL?) throws -> ParsedModel {
    guard root.name == "model" else {
      throw PersistenceError(
        .malformedFile, at: PersistenceError.Place(file: file, line: root.line),
        "The root element is <\(root.name)>; expected <model>.")
    }
    let log = XMLProblems(file: file)
    let description = XMLModelReader(log: log).model(root)
    try log.throwIfAny()
    return ParsedModel(description, flaws: log.warnings)
  }

  private static func contents(of url: URL) throws -> URL {
    guard url.isFolder else { return url }
    let file = url.appendingPathComponent("contents")
    if file.isThere { return file }
    if url.appendingPathComponent("elements").isThere {
      throw PersistenceError(
        .malformedFile, at: .file(url), "The model is in the binary format that Xcode used before version 4.",
        fix: "Open and save it in Xcode, or use the compiled .mom.")
    }
    throw PersistenceError(.malformedFile, at: .file(url), "The model has no file 'contents'.")
  }

  private func model(_ root: MarkupElement) -> ModelDescription {
    var fields = XMLFields(root, log: log)
    var model = ModelDescription()
    model.versionIdentifiers = fields.text("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    for child in root.children {
      switch child.name {
      case "entity": entity(child).map { model.entities.append($0) }
      case _ where Self.isComposite(child): composite(child).map { model.composites.append($0) }
      case "configuration": configuration(child, into: &model)
      case "fetchRequest":
        guard let name = child.attributes["name"], let request = fetchRequest(child) else {
          log.warn("A <fetchRequest> has no 'name' or no 'entity' and is left out.", line: child.line)
          fields.keepUnknown(child)
          continue
        }
        if model.fetchRequestTemplates.updateValue(request, forKey: name) != nil {
          log.warn(
            "Two fetch requests are named '\(name)'; the second one is used.", line: child.line,
            fix: "Rename one of them.")
        }
      case "elements": break
      default: fields.keepUnknown(child)
      }
    }
    model.unknown.merge(fields.unknown) { own, _ in own }
    nameComposites(in: &model)
    return model
  }

  private func configuration(_ element: MarkupElement, into model: inout ModelDescription) {
    var fields = XMLFields(element, log: log)
    guard let name = fields.text("name") else {
      fields.warn("A <configuration> has no 'name' and is left out.")
      return
    }
    var members: [String] = []
    for child in element.children {
      if child.name == "memberEntity" {
        if let member = child.attributes["name"] { members.append(member) }
      } else {
        fields.keepUnknown(child)
      }
    }
    if let others = model.configurations[name] {
      log.warn(
        "Two configurations are named '\(name)' and count as one.", line: element.line, fix: "Rename one of them.")
      members = others + members.filter { !others.contains($0) }
    }
    model.configurations[name] = members
    for (key, value) in fields.unknown { model.unknown["configuration \(name): \(key)"] = value }
  }

  /// Whether an element is a composite type or attribute. No sample model with one was available, so this relies on the
  /// tag's name.
  static func isComposite(_ element: MarkupElement) -> Bool { element.name.lowercased().contains("composite") }

  /// Resolves the types of composite attributes whose type name is in an unknown XML attribute.
  private func nameComposites(in model: inout ModelDescription) {
    let types = Set(model.composites.map(\.name))
    func name(_ attribute: inout AttributeDescription) {
      guard attribute.type == .composite, attribute.compositeName == nil else { return }
      let found = attribute.unknown.filter { types.contains($0.value) }
      guard let (key, type) = found.first, found.count == 1 else { return }
      attribute.compositeName = type
      attribute.unknown[key] = nil
    }
    for entity in model.entities.indices {
      for index in model.entities[entity].attributes.indices { name(&model.entities[entity].attributes[index]) }
    }
    for composite in model.composites.indices {
      for index in model.composites[composite].elements.indices { name(&model.composites[composite].elements[index]) }
    }
  }

  private func composite(_ element: MarkupElement) -> CompositeDescription? {
    var fields = XMLFields(element, log: log)
    guard let name = fields.required("name") else { return nil }
    var composite = CompositeDescription(name, elements: [], userInfo: fields.userInfo())
    for child in element.children {
      switch child.name {
      case "attribute": attribute(child).map { composite.elements.append($0) }
      case _ where Self.isComposite(child): compositeAttribute(child).map { composite.elements.append($0) }
      case "userInfo": break
      default: fields.keepUnknown(child)
      }
    }
    composite.unknown = fields.unknown
    return composite
  }
}

extension URL {
  /// Whether the URL is an existing folder.
  package var isFolder: Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  /// Whether a file or folder exists at the URL.
  var isThere: Bool { FileManager.default.fileExists(atPath: path) }
}
