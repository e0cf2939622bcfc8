import CoreData
import Foundation
import PersistTestSupport
import Testing

@Suite("Results that are read in batches")
struct BatchedFaultTests {
  private let folder: StoreFolder
  private let url: URL

  init() throws {
    folder = try StoreFolder()
    url = folder.store(UUID().uuidString)
    let context = try NSManagedObjectContext.opening(url, TestModels.staff())
    for number in 0..<95 { context.employee("E\(number)", number) }
    try context.save()
  }

  private func request(size: Int) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: true)]
    request.fetchBatchSize = size
    return request
  }

  private func reads(_ census: StatementCensus) -> Int { census.statements.count { $0.hasPrefix("SELECT") } }

  @Test("Identifiers are read first, and then a batch of rows when one of its objects is used")
  func batches() throws {
    let census = StatementCensus(of: url)
    defer { census.end() }
    let context = try NSManagedObjectContext.opening(url, TestModels.staff())
    let before = reads(census)
    let objects = try context.fetch(request(size: 10))
    #expect(objects.count == 95 && objects.allSatisfy(\.isFault))
    #expect(reads(census) == before + 1)
    #expect(objects[23].value(forKey: "name") as? String == "E23")
    #expect(reads(census) == before + 2)
    for index in 20..<30 { #expect(objects[index].value(forKey: "salary") as? Int == index) }
    #expect(reads(census) == before + 2)
    for (index, object) in objects.enumerated() { #expect(object.value(forKey: "salary") as? Int == index) }
    #expect(reads(census) == before + 11)
  }

  @Test("Unsaved, changed and deleted objects are where they belong", arguments: [1, 3, 10, 1000])
  func pending(size: Int) throws {
    let context = try NSManagedObjectContext.opening(url, TestModels.staff())
    let all = try context.fetch(request(size: 0))
    all[5].setValue(500, forKey: "salary")
    context.delete(all[7])
    context.employee("new", 50)
    let expected = try context.names(request(size: 0))
    #expect(try context.names(request(size: size)) == expected)
    try context.save()
    #expect(try context.names(request(size: size)) == expected)
    context.reset()
    let batched = try context.fetch(request(size: size))
    context.delete(batched[0])
    try context.save()
    #expect(batched.dropFirst().map { $0.value(forKey: "name") as? String } == expected.dropFirst().map { $0 })
  }

  @Test("An object of which only one remains is read alone, and refreshed objects again")
  func refreshed() throws {
    let context = try NSManagedObjectContext.opening(url, TestModels.staff())
    let objects = try context.fetch(request(size: 10))
    #expect(objects[0].value(forKey: "salary") as? Int == 0)
    let other = try NSManagedObjectContext.opening(url, TestModels.staff())
    let changed = try #require(try other.fetch(request(size: 0)).first)
    changed.setValue(-1, forKey: "salary")
    try other.save()
    context.refresh(objects[0], mergeChanges: false)
    #expect(objects[0].value(forKey: "salary") as? Int == -1)
  }
}
