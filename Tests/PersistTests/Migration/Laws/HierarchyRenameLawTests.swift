import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: within a hierarchy, a renaming identifier decides where the values of an attribute come from, whatever the
/// names of the parents and the children mean now.
@Suite("Law of renames within a hierarchy")
struct HierarchyRenameLawTests {
  @Test(
    "Every attribute has the values of the one that its renaming identifier or its name refers to",
    .law("hierarchy-renames", short: 40, long: 3000))
  func law() throws {
    forEachSeed { seed in
      let chain = RenamedChain(seed, versions: 2...2, keepsIdentifiers: false)
      let versions = try chain.versions()
      for copies in [false, true] {
        try withTemporaryStore { url in
          let values = try chain.fill(versions[0], at: url)
          try AutomaticMigrator(alwaysCopies: copies)
            .migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
          let after = chain.follow(values, to: 1)
          try #expect(chain.read(versions[1], at: url) == after, "\(copies ? "copied" : "in place"): \(chain)")
        }
      }
    }
  }

  @Test(
    "A migration over several versions gives the values that migrating to each of them gives, or keeps more",
    .law("renames-through-versions", short: 40, long: 3000))
  func chains() throws {
    forEachSeed { seed in
      let chain = RenamedChain(seed, versions: 3...4, keepsIdentifiers: true)
      let versions = try chain.versions()
      let registry = ModelRegistry(versions: versions)
      let last = versions[versions.count - 1]
      var stepped: RenamedChain.Values = [:]
      try withTemporaryStore { url in
        _ = try chain.fill(versions[0], at: url)
        for version in versions.dropFirst() {
          try AutomaticMigrator().migrate(storeAt: url, to: version, registry: registry)
        }
        stepped = try chain.read(last, at: url)
      }
      for copies in [false, true] {
        try withTemporaryStore { url in
          _ = try chain.fill(versions[0], at: url)
          try AutomaticMigrator(alwaysCopies: copies).migrate(storeAt: url, to: last, registry: registry)
          let direct = try chain.read(last, at: url)
          let agrees = stepped.allSatisfy { key, values in values.allSatisfy { direct[key]?[$0.key] == $0.value } }
          let keepsMore = !kept(direct).isSubset(of: kept(stepped))
          #expect(agrees || keepsMore, "\(copies ? "copied" : "in place"): \(chain)\n\(difference(direct, stepped))")
        }
      }
    }
  }

  private func kept(_ values: RenamedChain.Values) -> Set<String> { Set(values.values.flatMap(\.values)) }

  private func difference(_ direct: RenamedChain.Values, _ stepped: RenamedChain.Values) -> String {
    func words(_ values: [String: String]?) -> String {
      (values ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", ")
    }
    return stepped.keys.sorted().filter { direct[$0] != stepped[$0] }
      .map { "\($0): direct \(words(direct[$0])); stepped \(words(stepped[$0]))" }.joined(separator: "\n")
  }
}
