@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Three to five versions of a model that is reshaped at random, with names that sort in order or don't.
struct ReshapedChain {
  /// The versions in their true order, whose names needn't sort in it.
  let versions: [ModelVersion]
  /// A number less than the number of hops, for a test that treats one of them differently.
  let someHop: Int

  /// - Throws: if the generator makes an invalid model.
  init(seed: UInt64) throws {
    var models = RandomModels(seed: seed)
    for _ in 0..<2 { models.attempt { $0.addTwins() } }
    let length = models.pick(3...5)
    var made = [try models.model()]
    for _ in 0..<20 where made.count < length {
      models.reshape()
      for _ in 0..<models.pick(0...2) { models.attempt { $0.leaveOrComeBack() } }
      let model = try models.model()
      // A version with the same storage as an earlier one is the same to a store.
      if !made.contains(where: { $0.fingerprints == model.fingerprints }) { made.append(model) }
    }
    let plain = made.indices.map { "Model \($0 + 8)" }
    let names =
      switch models.pick(0...2) {
      case 0: plain
      case 1: plain.shuffled(using: &models.numbers)
      default: ["Zebra", "Apple", "Mango", "Quince", "Banana"].shuffled(using: &models.numbers)
      }
    versions = zip(names, made).map { ModelVersion(name: $0, model: $1) }
    someHop = models.pick(0...made.count - 2)
  }

  /// The same versions with names that sort in order.
  var inOrder: [ModelVersion] {
    versions.enumerated().map { ModelVersion(name: "V \($0 + 1)", model: $1.model) }
  }

  /// Whether the versions' names contradict the identities. They do if a name was transferred while nothing in the
  /// later version says so: names then decide, as in Core Data.
  ///
  /// The versions between matter for properties whose names the first and last version don't share: a chain of names
  /// leads to them.
  var areNamesMisleading: Bool {
    let (first, last) = (versions[0].model, versions[versions.count - 1].model)
    if Self.isMisleading(from: first, to: last, where: { _, _ in true }) { return true }
    return versions.dropFirst().dropLast().contains { version in
      Self.isMisleading(from: first, to: version.model) { entity, property in
        guard let old = Self.entity(entity, of: first), let new = Self.entity(entity, of: last) else { return true }
        guard Self.share(Named(old), Named(new)) else { return true }
        guard let property else { return false }
        let ends = [old, new].map { end in Named.properties(end).first { $0.identity == property.identity } }
        guard let old = ends[0], let new = ends[1] else { return true }
        return !Self.share(old, new)
      }
    }
  }

  /// - Parameter counts: Whether to examine an entity with an identity, or a property of it.
  private static func isMisleading(
    from old: ManagedObjectModel, to new: ManagedObjectModel, where counts: (String, Named?) -> Bool
  ) -> Bool {
    let entities = isMisleading(from: old.entities.map(Named.init), to: new.entities.map(Named.init)) {
      counts($0.identity ?? "", nil)
    }
    if entities { return true }
    return new.entities.contains { entity in
      guard let identity = Named(entity).identity, let source = self.entity(identity, of: old) else { return false }
      return [true, false].contains { isAttribute in
        isMisleading(
          from: Named.properties(source).filter { $0.isAttribute == isAttribute },
          to: Named.properties(entity).filter { $0.isAttribute == isAttribute }, where: { counts(identity, $0) })
      }
    }
  }

  private static func entity(_ identity: String, of model: ManagedObjectModel) -> Entity? {
    model.entities.first { Named($0).identity == identity }
  }

  private static func share(_ one: Named, _ other: Named) -> Bool { !Set(one.marks).isDisjoint(with: other.marks) }

  private struct Named {
    let identity: String?
    let name: String
    let identifier: String?
    var isAttribute = false

    init(_ entity: Entity) {
      let description = entity.description
      (identity, name) = (description.userInfo[RandomModels.identity], description.name)
      identifier = description.renamingIdentifier
    }

    private init(_ userInfo: [String: String], _ name: String, _ identifier: String?, isAttribute: Bool) {
      (identity, self.name, self.identifier) = (userInfo[RandomModels.identity], name, identifier)
      self.isAttribute = isAttribute
    }

    static func properties(_ entity: Entity) -> [Named] {
      entity.attributes.map { Named($0.userInfo, $0.name, $0.renamingIdentifier, isAttribute: true) }
        + entity.relationships.map { Named($0.userInfo, $0.name, $0.renamingIdentifier, isAttribute: false) }
    }

    /// The names by which it can be recognized: its identifier before its name.
    var marks: [String] { [identifier, name].compactMap { $0 } }
  }

  private static func isMisleading(from old: [Named], to new: [Named], where counts: (Named) -> Bool) -> Bool {
    new.contains { thing in
      guard counts(thing) else { return false }
      let same = old.first { $0.identity == thing.identity }
      return old.contains { other in
        guard other.identity != thing.identity, !Set(other.marks).isDisjoint(with: thing.marks) else { return false }
        // Something else has the mark: it is misleading if either of the two is also present as itself.
        return same != nil || new.contains { $0.identity == other.identity }
      }
    }
  }
}
