import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

/// A library's shelves: renamed without a declaration, and with the one that the warning advises.
private enum V1 {
  final class Shelf: ManagedObject {
    @Attribute var title = ""
    @Relationship(inverse: \Volume.shelf) var volumes: RelationshipSet<Volume>
  }

  final class Volume: ManagedObject {
    @Attribute var name = ""
    @Relationship var shelf: Shelf?
  }
}

private enum V2 {
  final class Rack: ManagedObject {
    @Attribute var title = ""
    @Relationship(inverse: \Volume.rack) var volumes: RelationshipSet<Volume>
  }

  final class Volume: ManagedObject {
    @Attribute var label = ""
    @Relationship var rack: Rack?
  }
}

private enum V3 {
  final class Rack: ManagedObject, DescribedEntity {
    static var entityTraits: EntityTraits { EntityTraits(of: Rack.self, renamedFrom: "Shelf") }
    @Attribute var title = ""
    @Relationship(inverse: \Volume.rack) var volumes: RelationshipSet<Volume>
  }

  final class Volume: ManagedObject {
    @Attribute(renamedFrom: "name") var label = ""
    @Relationship(renamedFrom: "shelf") var rack: Rack?
  }
}

@Suite("Advice for forgotten renames of classes")
struct RenameAdviceTests {
  @Test("Each advised line compiles in the class, and brings its values back")
  func advice() throws {
    let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: try ManagedObjectModel(V1.Shelf.self, V1.Volume.self))
      let store = try old.addStore(at: url)
      let context = ManagedObjectContext(old)
      let volume = V1.Volume(context: context)
      volume.name = "Emma"
      volume.shelf = V1.Shelf(context: context)
      volume.shelf?.title = "Novels"
      try context.save()
      try old.remove(store)

      let model = try ManagedObjectModel(V2.Rack.self, V2.Volume.self)
      let registry = ModelRegistry(versions: [ModelVersion(name: "2", model: model)])
      let report = try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[0], registry: registry)
      #expect(Set(report.renameHints.map(\.newName)).isSuperset(of: ["Rack", "label"]))
      for hint in report.renameHints {
        let line = try #require(hint.advice.firstMatch(of: /come back: (.+) in a class/)?.1)
        #expect(source.contains("    \(line)"), "\(hint.advice)")
      }
      let current = PersistentStoreCoordinator(model: try ManagedObjectModel(V3.Rack.self, V3.Volume.self))
      try current.addStore(at: url, options: .automaticMigration)
      let reader = ManagedObjectContext(current)
      let volumes = try V3.Volume.fetch(in: reader)
      #expect(volumes.map(\.label) == ["Emma"])
      #expect(volumes.map { $0.rack?.title } == ["Novels"])
    }
  }
}
