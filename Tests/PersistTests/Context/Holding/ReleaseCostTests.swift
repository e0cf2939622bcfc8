import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("The cost of releasing objects", .serialized)
struct ReleaseCostTests {
  enum Release: Sendable, CaseIterable {
    case reset, end, deletion

    func run(_ context: inout ManagedObjectContext?, _ held: inout [ManagedObject]) throws {
      switch self {
      case .reset: context?.reset()
      case .end: (context, held) = (nil, [])
      case .deletion:
        for object in held { context?.delete(object) }
        context?.rollback()
      }
    }
  }

  private static let (heldCount, visitedCount) = (200, 40_000)

  /// The least work of releasing some objects of a context that has visited others before.
  private func work(_ release: Release, in coordinator: PersistentStoreCoordinator, visiting visits: Int) throws
    -> Duration
  {
    var request = FetchRequest<ManagedObject>("Person")
    let works = try (0..<3).map { _ in
      var context: ManagedObjectContext? = ManagedObjectContext(coordinator)
      for _ in 0..<visits {
        request.fetchLimit = Self.visitedCount
        let count = try context?.fetch(request).count { $0["name"] != nil }
        #expect(count == Self.visitedCount)
      }
      request.fetchLimit = Self.heldCount
      var held = try context?.fetch(request) ?? []
      #expect(held.count == Self.heldCount)
      return try ThreadWork.of { try release.run(&context, &held) }
    }
    return try #require(works.min())
  }

  @Test(
    "Resetting and ending a context, and deleting its objects, cost what they free, not what was visited before",
    arguments: Release.allCases)
  func cost(_ release: Release) throws {
    try withNumberedPeople(Self.visitedCount) { coordinator in
      let few = try work(release, in: coordinator, visiting: 0)
      let many = try work(release, in: coordinator, visiting: 2)
      // Two hundred times as many objects were visited as are freed.
      #expect(many <= few * 4 + .milliseconds(2), "\(few) and \(many)")
    }
  }
}
