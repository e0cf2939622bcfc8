extension ModelCheck {
  mutating func checkEntityNames() {
    var seen: Set<String> = []
    var tables: [String: String] = Dictionary()
    for entity in description.entities {
      let place = PersistenceError.Place.entity(entity.name)
      if !seen.insert(entity.name).inserted {
        report(place, "Two entities are named '\(entity.name)'.", fix: "Rename one of them.")
        continue
      }
      checkName(entity.name, of: "An entity", at: place)
      if Self.reservedEntityNames.contains(entity.name.uppercased()) {
        report(place, "'\(entity.name)' needs a table that the store itself uses.", fix: "Choose another name.")
      }
      guard entity.parent == nil else { continue }
      if let other = tables.updateValue(entity.name, forKey: entity.name.uppercased()) {
        report(
          place, "'\(entity.name)' and '\(other)' differ only in case and would share a table.",
          fix: "Rename one of them.", as: .flaw)
      }
    }
  }

  mutating func checkParents() {
    var inReportedCycle: Set<String> = []
    for entity in description.entities {
      guard let parent = entity.parent else { continue }
      if !isEntity(parent) {
        report(
          .entity(entity.name), "The parent '\(parent)' of '\(entity.name)' isn't an entity of the model.",
          fix: "Add '\(parent)' or choose another parent.")
        continue
      }
      let lineage = lineage(of: entity.name).map(\.name)
      if let last = lineage.last, entities[last]?.parent == entity.name, !inReportedCycle.contains(entity.name) {
        inReportedCycle.formUnion(lineage)
        let cycle = (lineage + [entity.name]).joined(separator: " → ")
        report(
          .entity(entity.name), "'\(entity.name)' is its own ancestor: \(cycle).",
          fix: "Remove one of these parents.")
      }
    }
  }

  mutating func checkPropertyNames(of entity: EntityDescription) {
    var seen: Set<String> = []
    let names =
      entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
    for name in names {
      let place = PersistenceError.Place.property(entity.name, name)
      if !seen.insert(name).inserted {
        report(place, "'\(entity.name)' has two properties named '\(name)'.", fix: "Rename one of them.")
        continue
      }
      checkName(name, of: "A property", at: place)
      if Self.reservedPropertyNames.contains(name.uppercased()) {
        report(place, "'\(name)' needs a column that every table already has.", fix: "Choose another name.", as: .flaw)
      }
      if let parent = entity.parent, let inherited = property(name, of: parent), inherited.declaring != entity.name {
        report(
          place, "'\(entity.name)' inherits a property '\(name)' from '\(inherited.declaring)' and declares it too.",
          fix: "Rename one of them, or remove the one of '\(entity.name)'.",
          as: isRepeated(name, of: entity, from: inherited.kind) ? .flaw : .error)
      }
    }
  }

  /// Checks that a name consists of letters, digits and underscores, so that predicates, key paths and generated
  /// classes can use it.
  mutating func checkName(_ name: String, of what: String, at place: PersistenceError.Place) {
    guard let first = name.first else {
      report(place, "\(what) has no name.", fix: "Name it.")
      return
    }
    if Self.isPlainName(name) { return }
    if !(first.isLetter || first == "_") || !name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
      report(
        place, "'\(name)' isn't a valid name: it must start with a letter and contain only letters, digits and "
          + "underscores.",
        fix: "Rename it, and keep the old name as renaming identifier if stores have it.", as: .flaw)
    }
  }

  /// Whether a name consists of ASCII letters, digits and underscores, and doesn't begin with a digit. Most names do,
  /// and characters of other alphabets take longer to classify.
  private static func isPlainName(_ name: String) -> Bool {
    var isFirst = true
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): break
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !isFirst: break
      default: return false
      }
      isFirst = false
    }
    return !isFirst
  }

  /// Whether an entity's own property merely repeats an inherited one, which is then used instead.
  func isRepeated(_ name: String, of entity: EntityDescription, from inherited: Property.Kind) -> Bool {
    switch (ownProperty(name, of: entity.name), inherited) {
    case (.attribute(let own)?, .attribute(let other)):
      own.type == other.type && own.isTransient == other.isTransient && own.compositeName == other.compositeName
        && own.allowsExternalStorage == other.allowsExternalStorage
    case (.relationship(let own)?, .relationship(let other)):
      own.destination == other.destination && own.inverse == other.inverse && own.isToMany == other.isToMany
        && own.isOrdered == other.isOrdered && own.isTransient == other.isTransient
    case (.fetchedProperty?, .fetchedProperty): true
    default: false
    }
  }

  /// Tables, without their prefix `Z`, that a store has in addition to those of entities.
  private static let reservedEntityNames: Set<String> = ["_METADATA", "_PRIMARYKEY", "_MODELCACHE"]
  /// Columns, without their prefix `Z`, that every table has.
  private static let reservedPropertyNames: Set<String> = ["_PK", "_ENT", "_OPT"]
}
