import Foundation
import Persist
import PersistTools

/// The output of `persist generate` for a model version: files and warnings. The same model gives the same bytes.
struct GeneratePlan {
  private(set) var files: [GeneratedFile] = []
  private(set) var warnings: [ModelMessage] = []
  /// The number of generated classes.
  private(set) var classCount = 0

  /// - Parameters:
  ///   - version: the version to generate classes for.
  ///   - model: the model's name without a version.
  ///   - options: the options of the command.
  /// - Throws: `PersistenceError.Code.invalidModel` if two generated types have the same name.
  init(_ version: ModelVersion, of model: String, _ options: GenerateOptions) throws {
    let places = ModelSourceLines(ofModelAt: version.url)
    let log = WarningLog()
    log.warnings = version.model.flaws.flatMap { flaw in
      var flaw = flaw
      flaw.place.file = flaw.place.file ?? version.url
      return ModelMessage.all(.warning, of: flaw)
    }
    func report(_ message: String, _ type: String, _ property: String? = nil) {
      let place = property.map { "\(type).\($0): " } ?? "\(type): "
      log.warnings.append(
        ModelMessage(file: places.file, line: places.line(of: type, property), place + message))
    }
    let classes = ModelClasses(version.model, options) { report($0, $1) }
    let generated = classes.all.filter(\.isGenerated)
    let composites = version.model.description.composites.sorted { $0.name < $1.name }
    let listName = ClassListText.name(of: model)
    let structures = composites.map { SwiftName.identifier($0.name) }
    let names = classes.all.map(\.name) + structures + [listName]
    try Self.requireDistinct(generated.map(\.name) + structures + [listName])

    let access = options.access == .public ? "public " : ""
    var parts: [Part] = generated.map { type in
      let text = EntityText(
        type: type, classes: classes, model: version.model, listName: listName, access: access,
        typeNames: TypeNames.known.union(names)
      ) { report($0, type.entity.name, $1) }
      return Part(name: type.name, lines: text.lines)
    }
    parts += composites.map { composite in
      let text = CompositeText(
        composite: composite, access: access, typeNames: TypeNames.known.union(structures)
      ) { report($0, composite.name) }
      return Part(name: text.name, lines: text.lines)
    }
    if !generated.isEmpty {
      let list = ClassListText(version: version.name, model: model, classes: classes, access: access)
      parts.append(Part(name: listName, lines: list.lines))
    } else if options.skipsManual, !classes.all.isEmpty {
      log.warnings.append(
        ModelMessage(
          file: places.file, line: nil,
          "The model asks for no classes: set Codegen of its entities to Class Definition in Xcode."))
    }
    files = (options.singleFile.map { [(name: $0, parts: parts)] } ?? parts.map { (name: $0.name, parts: [$0]) })
      .map { file in
        var types = TypeNames(taken: Set(names))
        let body = file.parts.map { $0.lines(&types).trimmingEmpty }.joined(separator: [""])
        let imports = types.importLines(options.access)
        return GeneratedFile(file.name, model: model, imports: imports, body: Array(body))
      }
    classCount = generated.count
    warnings = log.warnings
  }

  private static func requireDistinct(_ names: [String]) throws {
    var seen: Set<String> = []
    // A case-insensitive file system would keep only one of the two files.
    guard let name = names.first(where: { !seen.insert($0.lowercased()).inserted }) else { return }
    throw PersistenceError(
      .invalidModel, "Two generated types would have the name '\(name)'.",
      fix: "Rename one of the classes, composite types or the model.")
  }
}

/// The source code of one type; generating its lines records the imports they need.
private struct Part {
  let name: String
  let lines: (inout TypeNames) -> [String]
}

extension [String] {
  /// The lines without trailing empty ones.
  fileprivate var trimmingEmpty: [String] { Array(self[..<((lastIndex { !$0.isEmpty } ?? -1) + 1)]) }
}

/// Warnings in the order in which they are reported.
private final class WarningLog {
  var warnings: [ModelMessage] = []
}
