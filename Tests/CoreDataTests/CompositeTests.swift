import CoreData
import Foundation
import Testing

@Suite("Composite attributes that are described in code")
struct CompositeTests {
  private func model() -> NSManagedObjectModel {
    let point = NSCompositeAttributeDescription()
    point.name = "point"
    point.elements = [
      TestModels.attribute("x", .doubleAttributeType), TestModels.attribute("y", .doubleAttributeType),
    ]
    let place = NSCompositeAttributeDescription()
    place.name = "place"
    place.elements = [TestModels.attribute("city", .stringAttributeType), point]
    let entity = NSEntityDescription()
    entity.name = "Item"
    entity.properties = [TestModels.attribute("name", .stringAttributeType), place]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }

  @Test("Values are dictionaries, set as a whole or by key path, and elements can be asked for")
  func values() throws {
    let folder = try StoreFolder()
    let context = try NSManagedObjectContext.opening(folder.store(), model())
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item.setValue(["city": "Bern", "point": ["x": 1.5, "y": 2]], forKey: "place")
    try context.save()
    item.setValue("Basel", forKeyPath: "place.city")
    item.setValue(7.5, forKeyPath: "place.point.x")
    try context.save()
    let again = try NSManagedObjectContext.opening(folder.store(), model())
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = NSPredicate(format: "place.point.x > 7 AND place.city == 'Basel'")
    let found = try #require(try again.fetch(request).first)
    #expect(found.value(forKeyPath: "place.city") as? String == "Basel")
    #expect(found.value(forKeyPath: "place.point.x") as? Double == 7.5)
    #expect(found.value(forKeyPath: "place.point.y") as? Double == 2)
  }

  @Test("A copy has its elements, and a model that was read describes them")
  func descriptions() throws {
    let model = model()
    let hash = model.entityVersionHashesByName["Item"]
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    let place = try #require(copy.entitiesByName["Item"]?.attributesByName["place"] as? NSCompositeAttributeDescription)
    #expect(place.attributeType == .compositeAttributeType)
    #expect(place.elements.map(\.name) == ["city", "point"])
    #expect((place.elements.last as? NSCompositeAttributeDescription)?.elements.map(\.name) == ["x", "y"])
    #expect(copy.entityVersionHashesByName["Item"] == hash)
    let other = try #require(place.copy() as? NSCompositeAttributeDescription)
    #expect(other.elements.map(\.name) == ["city", "point"] && other.elements[0] !== place.elements[0])
    place.elements.append(TestModels.attribute("country", .stringAttributeType))
    #expect(copy.entityVersionHashesByName["Item"] != hash)
  }
}
