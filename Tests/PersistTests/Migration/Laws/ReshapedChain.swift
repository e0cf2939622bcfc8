@testable import Persist

/// Three to five versions of a model that is reshaped at random, under names that sort or don't.
struct ReshapedChain {
  /// The versions in their true order, under names that needn't sort.
  let versions: [ModelVersion]
  /// A number below the number of hops, for a test that treats one of them otherwise.
  let someHop: Int

  /// - Throws: where the generator makes a model that isn't one.
  init(seed: UInt64) throws {
    var models = RandomModels(seed: seed)
    for _ in 0..<2 { models.attempt { $0.addTwins() } }
    let length = models.pick(3...5)
    var made = [try models.model()]
    for _ in 0..<20 where made.count < length {
      models.reshape()
      for _ in 0..<models.pick(0...2) { models.attempt { $0.leaveOrComeBack() } }
      let model = try models.model()
      // A version that is stored like an earlier one is the same to a store.
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

  /// The same versions under names that sort.
  var inOrder: [ModelVersion] {
    versions.enumerated().map { ModelVersion(name: "V \($0 + 1)", model: $1.model) }
  }

  /// Whether what first and last version call their things, without the versions between, contradicts what the things
  /// are. It does where a name changed hands while nothing in the last version says so: then names decide, as they do
  /// in Core Data.
  var areNamesMisleading: Bool {
    let (old, new) = (versions[0].model, versions[versions.count - 1].model)
    let entities = Self.isMisleading(
      from: old.entities.map { Named($0.description.userInfo, $0.name, $0.description.renamingIdentifier) },
      to: new.entities.map { Named($0.description.userInfo, $0.name, $0.description.renamingIdentifier) })
    if entities { return true }
    return new.entities.contains { entity in
      guard let identity = entity.description.userInfo[RandomModels.identity],
        let source = old.entities.first(where: { $0.description.userInfo[RandomModels.identity] == identity })
      else { return false }
      return Self.isMisleading(
        from: source.attributes.map { Named($0.userInfo, $0.name, $0.renamingIdentifier) },
        to: entity.attributes.map { Named($0.userInfo, $0.name, $0.renamingIdentifier) })
        || Self.isMisleading(
          from: source.relationships.map { Named($0.userInfo, $0.name, $0.renamingIdentifier) },
          to: entity.relationships.map { Named($0.userInfo, $0.name, $0.renamingIdentifier) })
    }
  }

  private struct Named {
    let identity: String?
    let name: String
    let identifier: String?

    init(_ userInfo: [String: String], _ name: String, _ identifier: String?) {
      (identity, self.name, self.identifier) = (userInfo[RandomModels.identity], name, identifier)
    }

    /// What it can be known by: its identifier before its name.
    var marks: [String] { [identifier, name].compactMap { $0 } }
  }

  private static func isMisleading(from old: [Named], to new: [Named]) -> Bool {
    new.contains { thing in
      let same = old.first { $0.identity == thing.identity }
      return old.contains { other in
        guard other.identity != thing.identity, !Set(other.marks).isDisjoint(with: thing.marks) else { return false }
        // Something else has the mark: it misleads where either of the two is also there as itself.
        return same != nil || new.contains { $0.identity == other.identity }
      }
    }
  }
}
