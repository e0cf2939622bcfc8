import CoreData
import Foundation
import Testing

@Suite("Models of Core Data's")
struct ModelTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// A model file with two versions, the second of which is current.
  private func modelFile() throws -> URL {
    let url = folder.url.appendingPathComponent("Shop.xcdatamodeld")
    for (version, attribute) in [("Shop", "old"), ("Shop 2", "new")] {
      let folder = url.appendingPathComponent("\(version).xcdatamodel")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift">
          <entity name="Thing" representedClassName="NSManagedObject" isAbstract="YES">
            <attribute name="name" attributeType="String" minValueString="1" defaultValueString="a"/>
          </entity>
          <entity name="Item" representedClassName="NSManagedObject" parentEntity="Thing">
            <attribute name="\(attribute)" optional="YES" attributeType="Integer 32" elementID="old"/>
            <userInfo><entry key="a" value="b"/></userInfo>
          </entity>
          <configuration name="Small"><memberEntity name="Thing"/></configuration>
          <fetchRequest name="Named" entity="Item" predicateString="name == $NAME" fetchLimit="2"/>
        </model>
        """.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
    }
    let current = try PropertyListSerialization.data(
      fromPropertyList: ["_XCCurrentVersionName": "Shop 2.xcdatamodel"], format: .xml, options: 0)
    try current.write(to: url.appendingPathComponent(".xccurrentversion"))
    return url
  }

  @Test("A file's current version has its entities, properties, configurations and templates")
  func reading() throws {
    let model = try #require(NSManagedObjectModel(contentsOf: modelFile()))
    let item = try #require(model.entitiesByName["Item"])
    #expect(item.superentity?.name == "Thing" && item.superentity?.isAbstract == true)
    #expect(Set(item.attributesByName.keys) == ["name", "new"])
    #expect(item.attributesByName["new"]?.renamingIdentifier == "old")
    #expect(item.attributesByName["name"]?.defaultValue as? String == "a")
    #expect(item.userInfo?["a"] as? String == "b")
    #expect(item.isKindOf(entity: try #require(model.entitiesByName["Thing"])))
    #expect(model.configurations == ["Small"])
    #expect(model.entities(forConfigurationName: "Small")?.map(\.name) == ["Thing"])
    #expect(model.fetchRequestTemplate(forName: "Named")?.fetchLimit == 2)
    let request = model.fetchRequestFromTemplate(withName: "Named", substitutionVariables: ["NAME": "b"])
    #expect(request?.predicate?.description == "name == \"b\"")
    #expect(NSManagedObjectModel(contentsOf: folder.url.appendingPathComponent("None.momd")) == nil)
  }

  @Test("A store of the older version is migrated with the file's versions, also by its rename")
  func migrating() throws {
    let file = try modelFile()
    let old = try #require(
      NSManagedObjectModel(contentsOf: file.appendingPathComponent("Shop.xcdatamodel")))
    do {
      let context = try NSManagedObjectContext.opening(folder.store(), old)
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue(7, forKey: "old")
      try context.save()
    }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: folder.store())
    let model = try #require(NSManagedObjectModel(contentsOf: file))
    #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(old.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    let container = NSPersistentContainer(name: "Shop", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: folder.store())]
    container.loadPersistentStores { #expect($1 == nil) }
    let items = try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
    #expect(items.map { $0.value(forKey: "new") as? Int } == [7])
  }

  @Test("Without the option, a store of another version isn't opened, and its file stays as it is")
  func withoutMigration() throws {
    let file = try modelFile()
    let old = try #require(
      NSManagedObjectModel(contentsOf: file.appendingPathComponent("Shop.xcdatamodel")))
    _ = try NSManagedObjectContext.opening(folder.store(), old)
    let container = NSPersistentContainer(
      name: "Shop", managedObjectModel: try #require(NSManagedObjectModel(contentsOf: file)))
    let description = NSPersistentStoreDescription(url: folder.store())
    description.shouldMigrateStoreAutomatically = false
    container.persistentStoreDescriptions = [description]
    // Unsafe: the block runs before the method returns.
    nonisolated(unsafe) var code: Int?
    container.loadPersistentStores { code = ($1 as NSError?)?.code }
    #expect(code == NSPersistentStoreIncompatibleVersionHashError)
  }

  @Test("Models are merged, and merging none gives one without entities")
  func merging() throws {
    #expect(NSManagedObjectModel(byMerging: [])?.entities.isEmpty == true)
    let shop = try #require(NSManagedObjectModel(contentsOf: modelFile()))
    let merged = try #require(NSManagedObjectModel(byMerging: [shop, TestModels.staff()]))
    #expect(Set(merged.entitiesByName.keys) == ["Thing", "Item", "Employee", "Department"])
    let context = try NSManagedObjectContext.opening(folder.store(), merged)
    context.employee("Alice", 1)
    NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    try context.save()
    #expect(NSManagedObjectModel.mergedModel(from: [Bundle.main]) != nil)
  }

  @Test("Copies can be changed, and equal models are equal")
  func copying() throws {
    let model = TestModels.staff()
    let copy = try #require(model.copy() as? NSManagedObjectModel)
    #expect(copy == model)
    #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
    copy.entitiesByName["Employee"]?.properties.append(TestModels.attribute("title", .stringAttributeType))
    #expect(copy != model)
    #expect(model.entitiesByName["Employee"]?.attributesByName["title"] == nil)
    #expect(copy.entitiesByName["Employee"]?.versionHash != model.entitiesByName["Employee"]?.versionHash)
    #expect(
      copy.entitiesByName["Department"]?.versionHash == model.entitiesByName["Department"]?.versionHash)
  }

  @Test("Values of every type survive saving, and come back as Foundation's objects")
  func values() throws {
    let values: [(NSAttributeType, Any, Any)] = [
      (.integer16AttributeType, -7, NSNumber(value: -7)), (.integer64AttributeType, Int64.max, NSNumber(value: Int64.max)),
      (.doubleAttributeType, 1.5, NSNumber(value: 1.5)), (.floatAttributeType, Float(0.25), NSNumber(value: 0.25)),
      (.booleanAttributeType, true, NSNumber(value: true)),
      (.decimalAttributeType, NSDecimalNumber(string: "12.34"), NSDecimalNumber(string: "12.34")),
      (.stringAttributeType, "ä\u{1F600}", NSString(string: "ä\u{1F600}")),
      (.dateAttributeType, Date(timeIntervalSinceReferenceDate: 3.5), NSDate(timeIntervalSinceReferenceDate: 3.5)),
      (.binaryDataAttributeType, Data([1, 2]), NSData(data: Data([1, 2]))),
      (.URIAttributeType, URL(string: "https://a.b/c")!, NSURL(string: "https://a.b/c")!),
      (.transformableAttributeType, ["a": [1, 2]], NSDictionary(dictionary: ["a": [1, 2]])),
    ]
    let entity = NSEntityDescription()
    entity.name = "E"
    entity.properties = values.enumerated().map { TestModels.attribute("a\($0.offset)", $0.element.0) }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let context = try NSManagedObjectContext.opening(folder.store(), model)
    let object = NSEntityDescription.insertNewObject(forEntityName: "E", into: context)
    for (index, value) in values.enumerated() { object.setValue(value.1, forKey: "a\(index)") }
    try context.save()
    context.refresh(object, mergeChanges: false)
    for (index, value) in values.enumerated() {
      let found = object.value(forKey: "a\(index)")
      let expected = value.2 as? NSObject
      #expect(
        (found as? NSObject ?? (found as AnyObject) as? NSObject)?.isEqual(expected) == true
          || "\(found ?? "nil")" == "\(value.2)", "\(value.0): \(found ?? "nil")")
      object.setValue(nil, forKey: "a\(index)")
      #expect(object.value(forKey: "a\(index)") == nil)
    }
    try context.save()
  }
}
