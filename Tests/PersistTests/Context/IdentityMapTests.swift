import Testing

@testable import Persist

@Suite("Identity map")
struct IdentityMapTests {
  @Test("Entries come and go like a dictionary's, through growth and shrinking")
  func likeDictionary() throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SystemRandomNumberGenerator()
    var map = IdentityMap()
    var expected: [Int64: ManagedObject] = [:]
    for round in 0..<20_000 {
      let isGrowing = (round / 5000).isMultiple(of: 2)
      // Keys that share their low bits, as chunks of a table do.
      let key = Int64.random(in: 0..<4000, using: &random) << 12
      if expected[key] == nil, isGrowing || round.isMultiple(of: 3) {
        let object = ManagedObject(entity: entity, insertInto: nil)
        map.insert(object, key: key)
        expected[key] = object
      } else {
        map.remove(key)
        expected[key] = nil
      }
      if round.isMultiple(of: 97) {
        let isSame = expected.allSatisfy { map[$0.key] === $0.value } && map.count == expected.count
        #expect(isSame)
      }
    }
    let found = Set(map.objects)
    #expect(found == Set(expected.values))
    #expect(map[-1] == nil)
  }
}
