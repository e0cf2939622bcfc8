import Foundation

@testable import Persist
@testable import PersistModel

extension RandomModels {
  mutating func changeAttributes() {
    switch pick(0...19) {
    case 0...2: addAttribute()
    case 3: removeAttribute()
    case 4...6: renameAttribute()
    case 7...8: makeRequired()
    case 9: change { $0.isOptional = true }
    case 10...12: changeType()
    case 13: reuseName()
    case 14: swapNames()
    case 15: moveUp()
    case 16: moveDown()
    case 17: changeStorage()
    case 18: addDerived()
    default: changeRest()
    }
  }

  static func sample(_ type: AttributeType) -> StoredValue {
    switch type {
    case .string: .string("it's a default")
    case .uri: .uri("https://example.org/default")
    case .boolean: .boolean(true)
    case .int16, .int32, .int64: .integer(7)
    case .double, .float: .double(7)
    case .decimal: .decimal(Decimal(7))
    case .date: .date(Date(timeIntervalSinceReferenceDate: 7))
    default: .null
    }
  }

  private mutating func newAttribute(_ name: String) -> AttributeDescription {
    let types: [AttributeType] = [
      .int16, .int16, .int32, .int64, .string, .string, .boolean, .double, .float, .decimal, .date, .binary, .uuid,
      .uri, .transformable, .composite,
    ]
    let type = one(of: types) ?? .string
    let isRequired = chance(2) && !Self.sample(type).isNull
    return AttributeDescription(
      name, type, isOptional: !isRequired, default: isRequired || chance(4) ? Self.sample(type) : .null,
      userInfo: newIdentity(), allowsExternalStorage: type == .binary && chance(2),
      compositeName: type == .composite ? "Place" : nil)
  }

  mutating func addAttribute(to given: Int? = nil) {
    guard let index = given ?? anyEntity() else { return }
    var name = name("a")
    // The same name in another branch of the hierarchy, or one that differs in case, needs a separate column.
    let cousins = entities.filter { $0.parent == entities[index].parent }.flatMap { $0.attributes.map(\.name) }
    if chance(6), let other = one(of: cousins) { name = chance(2) ? other : other.capitalized }
    guard canAdd(name) else { return }
    let attribute = newAttribute(name)
    entities[index].attributes.append(attribute)
    guard chance(4) else { return }
    entities[index].indexes.append(FetchIndexDescription("by_\(name)", on: name))
  }

  private mutating func addDerived() {
    guard let index = anyEntity() else { return }
    let line = lineage(of: index)
    let texts = line.flatMap { entities[$0].attributes }.filter { $0.type == .string && !$0.isDerived }.map(\.name)
    let lists = line.flatMap { entities[$0].relationships }.filter(\.isToMany).map(\.name)
    let name = name("d")
    if chance(2), let list = one(of: lists) {
      entities[index].attributes.append(
        AttributeDescription(name, .int64, userInfo: newIdentity(), derivation: "\(list).@count"))
    } else if let text = one(of: texts) {
      let derivation = one(of: ["uppercase:(\(text))", "canonical:(\(text))", text]) ?? text
      entities[index].attributes.append(
        AttributeDescription(name, .string, userInfo: newIdentity(), derivation: derivation))
    }
  }

  /// A random attribute, by the indexes of its entity and its own.
  private mutating func anyAttribute(where fits: (AttributeDescription) -> Bool = { _ in true }) -> (Int, Int)? {
    one(
      of: entities.indices.flatMap { index in
        entities[index].attributes.indices.filter { fits(entities[index].attributes[$0]) }.map { (index, $0) }
      })
  }

  private mutating func change(_ change: (inout AttributeDescription) -> Void) {
    guard let (index, position) = anyAttribute() else { return }
    change(&entities[index].attributes[position])
  }

  private mutating func removeAttribute() {
    guard let (index, position) = anyAttribute() else { return }
    let attribute = entities[index].attributes.remove(at: position)
    forgetUses(of: attribute.name, in: index)
    // The new property with its name was an attribute; it may become a relationship of the same name.
    guard chance(4), let other = anyEntity() else { return }
    entities[index].relationships.append(
      RelationshipDescription(
        name: attribute.name, destination: entities[other].name, inverse: nil, minimumCount: 0, maximumCount: 1,
        userInfo: newIdentity()))
  }

  private mutating func renameAttribute() {
    guard let (index, position) = anyAttribute() else { return }
    rename(index, position, to: name("a"))
  }

  private mutating func rename(_ index: Int, _ position: Int, to name: String) {
    let old = entities[index].attributes[position]
    guard !reused.contains(old.name), canRename(old.userInfo, had: old.renamingIdentifier) else { return }
    entities[index].attributes[position].renamingIdentifier = identifier(old.userInfo, had: old.renamingIdentifier)
    entities[index].attributes[position].name = name
    renameUses(of: old.name, to: name, in: index)
  }

  /// Renames an attribute, and gives its name to a new one.
  private mutating func reuseName() {
    guard let (index, position) = anyAttribute(where: { $0.renamingIdentifier == nil && !$0.isDerived }) else { return }
    let old = entities[index].attributes[position]
    guard identifier(old.userInfo, had: nil) == old.name, canRename(old.userInfo, had: nil),
      reused.insert(old.name).inserted
    else { return }
    entities[index].attributes[position].renamingIdentifier = old.name
    entities[index].attributes[position].name = name("a")
    renameUses(of: old.name, to: entities[index].attributes[position].name, in: index)
    var new = AttributeDescription(old.name, old.type, default: Self.sample(old.type), userInfo: newIdentity())
    new.compositeName = old.compositeName
    entities[index].attributes.append(new)
  }

  /// Two attributes exchange their names.
  private mutating func swapNames() {
    guard let index = anyEntity(where: { $0.attributes.count > 1 }) else { return }
    let places = entities[index].attributes.indices.shuffled(using: &numbers).prefix(2)
    let pair = places.map { entities[index].attributes[$0] }
    guard pair.allSatisfy({ $0.renamingIdentifier == nil && identifier($0.userInfo, had: nil) == $0.name }),
      pair.allSatisfy({ canRename($0.userInfo, had: nil) }), reused.isDisjoint(with: pair.map(\.name))
    else { return }
    reused.formUnion(pair.map(\.name))
    for (place, (own, other)) in zip(places, [(pair[0], pair[1]), (pair[1], pair[0])]) {
      entities[index].attributes[place].renamingIdentifier = own.name
      entities[index].attributes[place].name = other.name
      // Versions that differ only in renaming identifiers have identical storage.
      entities[index].attributes[place].versionHashModifier = self.name("t")
      forgetUses(of: own.name, in: index)
    }
  }

  private mutating func makeRequired() {
    let hasDefault = !chance(4)
    change { attribute in
      guard !attribute.isDerived else { return }
      attribute.isOptional = false
      if hasDefault { attribute.defaultValue = Self.sample(attribute.type) }
    }
  }

  private mutating func changeType() {
    guard let (index, position) = anyAttribute(where: { !$0.isDerived }) else { return }
    let old = entities[index].attributes[position].type
    let types = AttributeType.allCases.filter { type in
      type != old && ![.boolean, .composite, .objectID, .undefined].contains(type)
        && AttributeConversion(from: old, to: type) != .refused
    }
    guard let type = one(of: types) else { return }
    entities[index].attributes[position].type = type
    if !entities[index].attributes[position].defaultValue.isNull {
      entities[index].attributes[position].defaultValue = Self.sample(type)
    }
  }

  private mutating func changeStorage() {
    if chance(2), let (index, position) = anyAttribute(where: { [.binary, .transformable].contains($0.type) }) {
      entities[index].attributes[position].allowsExternalStorage.toggle()
    } else if chance(4) {
      // Models may set it for other types, whose values it doesn't affect.
      change { $0.allowsExternalStorage.toggle() }
    } else if chance(3), let (index, position) = anyAttribute(where: { !$0.isDerived }) {
      entities[index].attributes[position].isTransient.toggle()
      if entities[index].attributes[position].isTransient {
        forgetUses(of: entities[index].attributes[position].name, in: index)
      }
    } else if chance(2) {
      places.append(AttributeDescription(name("p"), one(of: [.string, .int32, .date]) ?? .string))
    } else if places.count > 1 {
      places.removeLast()
    }
  }

  /// A change that doesn't affect the store.
  private mutating func changeRest() {
    let text = name("t")
    let kind = pick(0...3)
    change { attribute in
      switch kind {
      case 0: attribute.versionHashModifier = text
      case 1: attribute.userInfo["note"] = text
      case 2: attribute.isIndexed.toggle()
      default: attribute.defaultValue = attribute.isOptional ? .null : attribute.defaultValue
      }
    }
  }

  private mutating func moveUp() {
    guard let (index, position) = anyAttribute(), let parent = self.index(of: entities[index].parent) else { return }
    let attribute = entities[index].attributes.remove(at: position)
    forgetUses(of: attribute.name, in: index)
    entities[parent].attributes.append(attribute)
  }

  private mutating func moveDown() {
    guard let index = anyEntity(where: { $0.parent != nil }), let parent = self.index(of: entities[index].parent),
      let attribute = one(of: entities[parent].attributes)
    else { return }
    entities[parent].attributes.removeAll { $0.name == attribute.name }
    forgetUses(of: attribute.name, in: parent)
    for child in entities.indices where entities[child].parent == entities[parent].name {
      entities[child].attributes.append(attribute)
    }
  }
}
