import CoreData
import Foundation

/// Turns first and last names into one, and prices of text into cents.
@objc(AuthorMigrationPolicy)
final class AuthorMigrationPolicy: NSEntityMigrationPolicy {
    private var names = Set<String>()

    @objc func fullName(forFirst first: String?, last: String) -> String {
        [first, last].compactMap { $0 }.joined(separator: " ")
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        try super.begin(mapping, with: manager)
        manager.userInfo = (manager.userInfo ?? [:]).merging(["began": mapping.name as Any]) { $1 }
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: mapping.destinationEntityName!)
        for author in try manager.destinationContext.fetch(request) {
            names.insert(author.value(forKey: "fullName") as! String)
        }
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        guard !names.contains("") else {
            throw NSError(domain: "Migration", code: 1)
        }
    }
}

@objc(BookMigrationPolicy)
final class BookMigrationPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(forSource sInstance: NSManagedObject, in mapping: NSEntityMapping,
                                             manager: NSMigrationManager) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let book = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
        let price = sInstance.value(forKey: "price") as? String
        book?.setValue(Int64((Double(price ?? "") ?? 0) * 100), forKey: "cents")
    }
}

public enum Migrator {
    static func model(named name: String) -> NSManagedObjectModel {
        let url = LibraryContainer.modelURL.appendingPathComponent("\(name).mom")
        let model = NSManagedObjectModel(contentsOf: url)!
        // The classes are those of the current version.
        for entity in model.entities {
            entity.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
        }
        return model
    }

    public static func requiresMigration(at url: URL) throws -> Bool {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        return !LibraryContainer.currentModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    static func mapping(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws -> NSMappingModel {
        let mapping = NSMappingModel()
        func property(_ name: String, _ expression: String) -> NSPropertyMapping {
            let property = NSPropertyMapping()
            property.name = name
            property.valueExpression = NSExpression(format: expression)
            return property
        }
        let authors = NSEntityMapping()
        authors.name = "AuthorToAuthor"
        authors.mappingType = .customEntityMappingType
        authors.sourceEntityName = "Author"
        authors.destinationEntityName = "Author"
        authors.entityMigrationPolicyClassName = NSStringFromClass(AuthorMigrationPolicy.self)
        authors.attributeMappings = [
            property("fullName", """
                FUNCTION($entityPolicy, "fullNameForFirst:last:", $source.firstName, $source.lastName)
                """),
        ]
        authors.relationshipMappings = [
            property("books", """
                FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "BookToBook", $source.books)
                """),
        ]
        let books = NSEntityMapping()
        books.name = "BookToBook"
        books.mappingType = .customEntityMappingType
        books.sourceEntityName = "Book"
        books.destinationEntityName = "Book"
        books.entityMigrationPolicyClassName = "Library.BookMigrationPolicy"
        books.attributeMappings = [
            property("isbn", "$source.isbn"),
            property("title", "$source.title"),
        ]
        books.relationshipMappings = [
            property("author", """
                FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "AuthorToAuthor", $source.author)
                """),
        ]
        mapping.entityMappings = [authors, books]
        return mapping
    }

    public static func migrate(storeAt url: URL) throws {
        let (source, destination) = (model(named: "Library"), model(named: "Library 2"))
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        let temporary = url.deletingLastPathComponent().appendingPathComponent(UUID().uuidString)
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping(from: source, to: destination),
            toDestinationURL: temporary, destinationType: NSSQLiteStoreType, destinationOptions: nil)
        precondition(manager.userInfo?["began"] as? String == "AuthorToAuthor")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        try coordinator.replacePersistentStore(
            at: url, destinationOptions: nil, withPersistentStoreFrom: temporary, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        try coordinator.destroyPersistentStore(at: temporary, ofType: NSSQLiteStoreType, options: nil)
    }
}
