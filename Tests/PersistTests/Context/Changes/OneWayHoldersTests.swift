import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Holders of objects by relationships without an inverse")
struct OneWayHoldersTests {
  /// Frame {photo, spares}, without inverses, and its subentity Panel; Album {photos}, which are deleted with it.
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Album",
      relationships: [RelationshipDescription("photos", toMany: "Photo", inverse: "album", deleteRule: .cascade)]),
    EntityDescription(
      "Photo", attributes: [AttributeDescription("code", .string), AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("album", to: "Album", inverse: "photos")],
      uniquenessConstraints: [["code"]]),
    EntityDescription("Panel", parent: "Frame"),
    EntityDescription(
      "Frame", attributes: [AttributeDescription("code", .string)],
      relationships: [
        RelationshipDescription("photo", to: "Photo", inverse: nil),
        RelationshipDescription("spares", toMany: "Photo", inverse: nil),
      ]),
  ])

  private final class Photo: ManagedObject {
    var onDeletion: (() -> Void)?
    override func prepareForDeletion() { onDeletion?() }
  }

  @Test("The changed objects are examined twice for many destinations, and again once others were related")
  func scans() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let photos = try (0..<50).map { _ in try context.make("Photo") }
      let frames = try photos.map { try context.make("Frame", ["photo": $0]) }
      let holders = OneWayHolders(in: context)
      for (photo, frame) in zip(photos, frames) { #expect(holders.holders(of: photo).contains(frame)) }
      #expect(holders.scanCount == 2 && holders.holders(of: photos[7]) == [frames[7]])
      holders.relate(frames[0], to: photos[7]) { frames[0]["photo"] = photos[7] }
      #expect(holders.holders(of: photos[7]) == [frames[7], frames[0]] && holders.scanCount == 2)
      try frames[3].many("spares").insert(photos[9])
      #expect(Set(holders.holders(of: photos[9])) == [frames[9], frames[3]] && holders.scanCount == 3)
      context.delete(frames[9])
      #expect(holders.holders(of: photos[9]) == [frames[3]] && holders.scanCount == 3)
    }
  }

  @Test("Objects that are related while another one is related are found")
  func relatedMeanwhile() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let photos = try (0..<5).map { _ in try context.make("Photo") }
      let frames = try photos.map { try context.make("Frame", ["photo": $0]) }
      let holders = OneWayHolders(in: context)
      for photo in photos { _ = holders.holders(of: photo) }
      holders.relate(frames[0], to: photos[1]) {
        frames[0]["photo"] = photos[1]
        frames[2]["photo"] = photos[3]
      }
      #expect(Set(holders.holders(of: photos[3])) == [frames[3], frames[2]])
      #expect(Set(holders.holders(of: photos[1])) == [frames[1], frames[0]] && holders.scanCount == 3)
    }
  }

  @Test("Changed objects are examined only while one is of an entity that refers to the destination's")
  func otherEntities() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let photos = try (0..<10).map { _ in try context.make("Photo") }
      let holders = OneWayHolders(in: context)
      for photo in photos { #expect(holders.holders(of: photo).isEmpty) }
      #expect(holders.scanCount == 0)
      let panel = try context.make("Panel", ["photo": photos[3]])
      #expect(holders.holders(of: photos[3]).contains(panel) && holders.scanCount == 1)
      try context.save()
      let others = OneWayHolders(in: context)
      #expect(others.holders(of: photos[3]).isEmpty && others.scanCount == 0)
      panel["code"] = "a"
      #expect(others.holders(of: photos[3]).contains(panel) && others.scanCount == 1)
      context.rollback()
      #expect(others.holders(of: photos[3]).isEmpty && others.scanCount == 1)
    }
  }

  @Test("New objects that are deleted together leave no references, even to those that their hooks set")
  func cascade() throws {
    try withStack(Self.model) { stack in
      let context = stack.context(classes: ["Photo": Photo.self])
      let album = try context.make("Album")
      let photos = try (0..<20).map { _ in try context.make("Photo", ["album": album]) }
      let frames = try photos.map { try context.make("Frame", ["photo": $0]) }
      try frames[1].many("spares").insert(contentsOf: photos)
      for case let photo as Photo in photos {
        photo.onDeletion = {
          guard let other = photos.last(where: { $0.managedObjectContext != nil }) else { return }
          frames[0]["photo"] = other
        }
      }
      context.delete(album)
      for case let photo as Photo in photos { photo.onDeletion = nil }
      #expect(frames.allSatisfy { $0["photo"] == nil })
      try #expect(frames[1].many("spares").isEmpty && context.insertedObjects == Set(frames))
      try context.save()
      #expect(try stack.reopened().context().count(for: FetchRequest("Frame")) == 20)
    }
  }

  @Test("Rows that others delete leave no unsaved references")
  func merged() throws {
    try withStack(Self.model) { stack in
      let other = stack.context()
      let codes = (0..<10).map { "\($0)" }
      for code in codes { try other.make("Photo", ["code": code]) }
      try other.save()
      let context = stack.context()
      let photos = try codes.map { try context.named("Photo", $0, by: "code") }
      let frames = try photos.map { try context.make("Frame", ["photo": $0]) }
      for photo in photos { other.delete(other.object(with: photo.objectID)) }
      try other.save()
      context.mergeChanges(from: SavedChanges(deleted: Set(photos.map(\.objectID))))
      #expect(frames.allSatisfy { $0["photo"] == nil })
      try context.save()
    }
  }

  @Test("Unsaved references to new objects that are merged into rows lead to these", arguments: [false, true])
  func upserts(isHeld: Bool) throws {
    try withStack(Self.model) { stack in
      let first = stack.context()
      let codes = (0..<20).map { "\($0)" }
      for code in codes { try first.make("Photo", ["code": code, "name": "old"]) }
      try first.save()
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyObjectTrump
      let held: [ManagedObject] = try isHeld ? context.fetch(FetchRequest("Photo")) : []
      for code in codes {
        // Two new objects for each row.
        let photos = try (0..<2).map { _ in try context.make("Photo", ["code": code, "name": "new"]) }
        for photo in photos { try context.make("Frame", ["code": code, "photo": photo]) }
      }
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.count(for: FetchRequest("Photo")) == 20)
      let frames = try fresh.fetch(FetchRequest("Frame"))
      #expect(frames.count == 40)
      for frame in frames {
        #expect(frame.one("photo")?["code"] as? String == frame["code"] as? String)
        #expect(frame.one("photo")?["name"] as? String == "new")
      }
      withExtendedLifetime(held) {}
    }
  }
}
