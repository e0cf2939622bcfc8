import ArgumentParser
import Foundation
import Persist
import PersistInspection
import PersistTools

/// `persist inspect`: a summary of a store.
struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show a store's model version, entities and row counts. Never writes.")

  @OptionGroup var arguments: StoreArguments

  @Flag(name: .shortAndLong, help: "Also print notes about oddities of the store's embedded model.")
  var verbose = false

  func run() throws {
    let registry = try arguments.registry()
    let contents = try arguments.contents(identifiedAmong: registry)
    // The store's version may be one of those that can't be read.
    for problem in registry?.problems ?? [] { StandardError.print("persist: \(problem)") }
    // Notes about an embedded model are hidden by default: readers of another program's store can't change its model.
    if verbose || contents.modelOrigin != .embedded {
      var notes: Set<String> = []
      for note in contents.modelNotes.map(\.description) where notes.insert(note).inserted {
        StandardError.print("note: \(note)")
      }
    }
    let counts = try Dictionary(
      uniqueKeysWithValues: contents.model.entities.map { ($0.name, try contents.count(of: $0)) })
    let entities = contents.model.entities.sorted { $0.name < $1.name }
    let parked = try PersistentStoreCoordinator.parkedContents(at: arguments.url)
    if arguments.json {
      try StandardOutput.print { json in
        json.key("store")
        json.object { $0.fields(ofStore: contents) }
        json.field("entities", of: entities) { json, entity in
          json.object { $0.fields(of: entity, count: counts[entity.name] ?? 0) }
        }
        if !parked.isEmpty { json.field("parked", parked: parked) }
      }
    } else {
      let place = try StoreArgument.name(of: arguments.url)
      try StandardOutput.print(text(contents, of: place, entities, counts: counts, parked: parked))
    }
  }

  private func text(
    _ contents: StoreContents, of place: String, _ entities: [Entity], counts: [String: Int], parked: [ParkedContent]
  ) -> String {
    let metadata = contents.metadata
    let framework = metadata.frameworkVersion.map { ", framework version \($0)" } ?? ""
    let version = contents.versionName.map { "\($0), " } ?? ""
    var lines = [
      "store    \(place)",
      "uuid     \(metadata.identifier)",
      "type     \(metadata.type ?? "unknown")\(framework)",
      "version  \(version)\(contents.modelOrigin.words)",
    ]
    if !metadata.versionIdentifiers.isEmpty {
      lines.append("called   \(metadata.versionIdentifiers.map { "'\($0)'" }.joined(separator: ", "))")
    }
    let log = metadata.migrationLog
    lines += log.enumerated().map { "\($0 == 0 ? "migrated" : "        ") \($1)" }
    lines += metadata.deferredSteps.enumerated().map { "\($0 == 0 ? "deferred" : "        ") \($1)" }
    lines += parked.enumerated().map { "\($0 == 0 ? "parked  " : "        ") \($1.line)" }
    for entity in entities {
      let parent = entity.superentity.map { ": \($0.name)" } ?? ""
      let count = counts[entity.name] ?? 0
      lines.append("")
      let rows = entity.isAbstract && count == 0 ? "abstract" : Measure.count(count, "row")
      lines.append("\(entity.name)\(parent)  \(rows)")
      var table = TextTable(columns: 2)
      for property in entity.properties.sorted(by: { $0.name < $1.name }) {
        let marks = PropertyMarks(of: property, in: entity).words
        if let attribute = property.attribute {
          table.add(attribute.name, ([attribute.words] + marks).joined(separator: ", "))
        }
        if let relationship = property.relationship { table.add(relationship.name, relationship.words) }
      }
      if !table.isEmpty { lines.append(table.text(indent: "  ")) }
    }
    return lines.joined(separator: "\n")
  }
}

extension JSONText {
  fileprivate mutating func fields(ofStore contents: StoreContents) {
    field("uuid", contents.metadata.identifier)
    field("type", contents.metadata.type)
    field("frameworkVersion", contents.metadata.frameworkVersion)
    field("modelFrom", contents.modelOrigin.rawValue)
    field("version", contents.versionName)
    // The raw array from the metadata: most models have one identifier, the empty string.
    let identifiers = contents.metadata.values["NSStoreModelVersionIdentifiers"]?.arrayValue ?? []
    field("versionIdentifiers", strings: identifiers.compactMap(\.stringValue))
    let deferred = contents.metadata.deferredSteps
    if !deferred.isEmpty { field("deferred", strings: deferred.map(\.description)) }
  }

  fileprivate mutating func fields(of entity: Entity, count: Int) {
    field("name", entity.name)
    field("parent", entity.superentity?.name)
    field("abstract", entity.isAbstract)
    field("count", count)
    let attributes = entity.properties.filter { $0.attribute != nil }.sorted { $0.name < $1.name }
    field("attributes", of: attributes) { json, property in
      guard let attribute = property.attribute else { return }
      let marks = PropertyMarks(of: property, in: entity)
      json.object {
        $0.field("name", attribute.name)
        $0.field("type", attribute.type.rawValue)
        $0.field("optional", attribute.isOptional)
        // All attributes of the model are listed; transient ones, which `dump` doesn't show, are marked.
        if attribute.isTransient { $0.field("transient", true) }
        if marks.isUnique { $0.field("unique", true) }
        if !marks.uniqueWith.isEmpty {
          $0.field("uniqueWith", of: marks.uniqueWith) { json, names in json.array(of: names) { $0.value($1) } }
        }
        if marks.isIndexed { $0.field("indexed", true) }
        if marks.isFullText { $0.field("fullText", true) }
      }
    }
    field("relationships", of: entity.relationships.sorted { $0.name < $1.name }) { json, relationship in
      json.object {
        $0.field("name", relationship.name)
        $0.field("destination", relationship.destination)
        $0.field("toMany", relationship.isToMany)
        $0.field("ordered", relationship.isOrdered)
        $0.field("inverse", relationship.inverse)
        $0.field("deleteRule", relationship.deleteRule.commandName)
        if relationship.isTransient { $0.field("transient", true) }
      }
    }
  }
}

extension DeleteRule {
  fileprivate var commandName: String {
    switch self {
    case .noAction: "noAction"
    case .nullify: "nullify"
    case .cascade: "cascade"
    case .deny: "deny"
    }
  }
}

extension ModelOrigin {
  fileprivate var words: String {
    switch self {
    case .registry: "found among the models given"
    case .fingerprint: "found among the models given, by its fingerprint"
    case .embedded: "the store's own model"
    case .columns: "found among the models given, by tables and columns"
    }
  }
}

extension AttributeDescription {
  fileprivate var words: String {
    var words = type.rawValue + (isOptional ? "?" : "")
    if isTransient { words += ", transient" }
    if let derivation { words += ", derived: \(derivation)" }
    if allowsExternalStorage { words += ", external storage" }
    return words
  }
}

extension RelationshipDescription {
  fileprivate var words: String {
    let arrow = isToMany ? (isOrdered ? "→→ in order" : "→→") : "→"
    let inverse = inverse.map { ", inverse \($0)" } ?? ", no inverse"
    return "\(arrow) \(destination)\(isOptional ? "?" : "")\(inverse), \(deleteRule.commandName)"
  }
}
