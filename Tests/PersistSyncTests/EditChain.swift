import Foundation
import Persist
import PersistTestSupport

/// Random versions of a small model, with the names that each of them has for the parts of the first one.
struct EditChain {
  enum Kind: Sendable {
    case text, number, flag
    /// A to-one relationship with a to-many inverse.
    case reference(to: String, inverse: String, isOrdered: Bool)
    /// A to-one relationship without an inverse.
    case link(to: String)
    /// A many-to-many relationship.
    case members(of: String, inverse: String)

    var destination: String? {
      switch self {
      case .text, .number, .flag: nil
      case .reference(let name, _, _), .link(let name), .members(let name, _): name
      }
    }
  }

  struct Part: Sendable {
    let entity: String
    /// The first name.
    let first: String
    let kind: Kind
    var name: String
    var former: String?
    var isThere = true
    var type = AttributeType.int16
  }

  struct Version: Sendable {
    /// The names of entities by their first ones; those that are missing aren't there.
    var entities: [String: String] = [:]
    /// The parts that are there, by the first names of the entity and their own.
    var parts: [String: [String: Part]] = [:]
  }

  private struct Name {
    var present: String
    var former: String?
    var isThere = true
  }

  private(set) var versions: [Version] = []
  private(set) var models: [ManagedObjectModel] = []
  private var entities = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, Name(present: $0)) })
  private var parts: [Part] = []

  static let names = ["Note", "Folder", "Tag"]

  init(_ random: inout SeededRandom, count: Int) throws {
    func add(_ entity: String, _ name: String, _ kind: Kind, isThere: Bool = true) {
      parts.append(Part(entity: entity, first: name, kind: kind, name: name, isThere: isThere))
    }
    for entity in Self.names {
      add(entity, "title", .text)
      add(entity, "body", .text)
      add(entity, "rank", .number)
      add(entity, "done", .flag)
      add(entity, "late", .text, isThere: false)
    }
    add("Note", "folder", .reference(to: "Folder", inverse: "notes", isOrdered: random.next() % 2 == 0))
    add("Note", "next", .link(to: "Note"))
    add("Note", "mark", .link(to: "Tag"))
    add("Note", "tags", .members(of: "Tag", inverse: "notes"))
    for version in 0..<count {
      if version > 0 { change(version, &random) }
      try addVersion(version)
    }
  }

  // MARK: Changes

  private mutating func change(_ version: Int, _ random: inout SeededRandom) {
    for name in entities.keys { entities[name]?.former = nil }
    for index in parts.indices { parts[index].former = nil }
    for _ in 0...Int.random(in: 0..<4, using: &random) {
      let index = Int.random(in: 0..<parts.count, using: &random)
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2:
        guard isThere(parts[index]), parts[index].former == nil else { continue }
        parts[index].former = parts[index].name
        parts[index].name = "\(parts[index].first)\(version)"
      case 3...6: if parts[index].former == nil { parts[index].isThere.toggle() }
      case 7: parts[index].type = parts[index].type == .int16 ? .int32 : .int64
      case 8:
        let name = Self.names[Int.random(in: 0..<3, using: &random)]
        guard let entity = entities[name], entity.isThere, entity.former == nil else { continue }
        entities[name] = Name(present: "\(name)\(version)", former: entity.present)
      default:
        let name = Self.names[Int.random(in: 1..<3, using: &random)]
        let isUsed = parts.contains { $0.former != nil && ($0.entity == name || $0.kind.destination == name) }
        if !isUsed, entities[name]?.former == nil { entities[name]?.isThere.toggle() }
      }
    }
  }

  private func isThere(_ part: Part) -> Bool {
    part.isThere && entities[part.entity]?.isThere == true
      && part.kind.destination.map { entities[$0]?.isThere == true } ?? true
  }

  // MARK: Models

  private mutating func addVersion(_ number: Int) throws {
    var (version, descriptions) = (Version(), [EntityDescription]())
    let there = parts.filter(isThere)
    for name in Self.names {
      guard let entity = entities[name], entity.isThere else { continue }
      version.entities[name] = entity.present
      var description = EntityDescription(
        entity.present, renamingIdentifier: entity.former, attributes: [.init("id", .int64)])
      for part in there where part.entity == name {
        version.parts[name, default: [:]][part.first] = part
        if let attribute = attribute(part) { description.attributes.append(attribute) }
      }
      description.relationships = there.flatMap { relationships($0, of: name) }
      descriptions.append(description)
    }
    versions.append(version)
    models.append(
      try ManagedObjectModel(ModelDescription(entities: descriptions, versionIdentifiers: ["\(number)"])))
  }

  private func attribute(_ part: Part) -> AttributeDescription? {
    let type: AttributeType
    switch part.kind {
    case .text: type = .string
    case .number: type = part.type
    case .flag: type = .boolean
    default: return nil
    }
    return AttributeDescription(part.name, type, renamingIdentifier: part.former)
  }

  /// The relationships that a part gives to an entity: its own one and its inverse.
  private func relationships(_ part: Part, of entity: String) -> [RelationshipDescription] {
    func name(_ entity: String) -> String { entities[entity]?.present ?? "" }
    var all: [RelationshipDescription] = []
    switch part.kind {
    case .text, .number, .flag: break
    case .link(let destination):
      if part.entity == entity { all.append(.init(part.name, to: name(destination), renamingIdentifier: part.former)) }
    case .reference(let destination, let inverse, let isOrdered):
      if part.entity == entity {
        all.append(.init(part.name, to: name(destination), inverse: inverse, renamingIdentifier: part.former))
      }
      if destination == entity {
        all.append(.init(inverse, toMany: name(part.entity), inverse: part.name, isOrdered: isOrdered))
      }
    case .members(let destination, let inverse):
      if part.entity == entity {
        all.append(.init(part.name, toMany: name(destination), inverse: inverse, renamingIdentifier: part.former))
      }
      if destination == entity { all.append(.init(inverse, toMany: name(part.entity), inverse: part.name)) }
    }
    return all
  }

  /// The versions that a program of one version knows.
  func registry(upTo version: Int) -> ModelRegistry {
    ModelRegistry(versions: (0...version).map { ModelVersion(name: "\($0)", model: models[$0]) })
  }

  func identifiers(_ version: Int) -> [String: String] {
    Dictionary(uniqueKeysWithValues: versions[version].entities.values.map { ($0, "id") })
  }
}
