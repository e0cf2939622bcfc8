import CoreData
import Foundation

// The declarations of the framework with the types that they have on Apple's platforms: this file only has to compile.
private func attributeDescription(_ a: NSAttributeDescription) {
  let _: NSAttributeType = a.attributeType
  let _: String? = a.attributeValueClassName
  let _: Any? = a.defaultValue
  let _: Data = a.versionHash
  let _: String? = a.valueTransformerName
  let _: Bool = a.allowsExternalBinaryDataStorage
  let _: Bool = a.preservesValueInHistoryOnDeletion
  let _: Bool = a.allowsCloudEncryption
  a.type = .objectID
  let _: NSEntityDescription = a.entity
  let _: String = a.name
  let _: [AnyHashable: Any]? = a.userInfo
  let _: [NSPredicate] = a.validationPredicates
  let _: [Any] = a.validationWarnings
  a.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["a"])
  let _: Bool = a.isIndexed
  let _: String? = a.versionHashModifier
  let _: Bool = a.isIndexedBySpotlight
  let _: Bool = a.isStoredInExternalRecord
  let _: String? = a.renamingIdentifier
  let _ = a.copy() as! NSAttributeDescription
}

private func entityDescription(_ e: NSEntityDescription, _ c: NSManagedObjectContext) {
  let _: NSEntityDescription? = NSEntityDescription.entity(forEntityName: "A", in: c)
  let _: NSManagedObject = NSEntityDescription.insertNewObject(forEntityName: "A", into: c)
  let _: NSManagedObjectModel = e.managedObjectModel
  let _: String = e.managedObjectClassName
  let _: String? = e.name
  let _: Bool = e.isAbstract
  let _: [String: NSEntityDescription] = e.subentitiesByName
  let _: [NSEntityDescription] = e.subentities
  let _: NSEntityDescription? = e.superentity
  let _: [String: NSPropertyDescription] = e.propertiesByName
  let _: [NSPropertyDescription] = e.properties
  let _: [AnyHashable: Any]? = e.userInfo
  let _: [String: NSAttributeDescription] = e.attributesByName
  let _: [String: NSRelationshipDescription] = e.relationshipsByName
  let _: [NSRelationshipDescription] = e.relationships(forDestination: e)
  let _: Bool = e.isKindOf(entity: e)
  let _: Data = e.versionHash
  let _: String? = e.versionHashModifier
  let _: String? = e.renamingIdentifier
  let _: [NSFetchIndexDescription] = e.indexes
  let _: [[Any]] = e.uniquenessConstraints
  let _: [[Any]] = e.compoundIndexes
  e.coreSpotlightDisplayNameExpression = CoreData.NSExpression(forKeyPath: "a")
}

private func relationships(
  _ r: NSRelationshipDescription, _ f: NSFetchedPropertyDescription, _ x: NSExpressionDescription,
  _ d: NSDerivedAttributeDescription, _ comp: NSCompositeAttributeDescription
) {
  let _: NSEntityDescription? = r.destinationEntity
  let _: NSRelationshipDescription? = r.inverseRelationship
  let _: Int = r.maxCount
  let _: Int = r.minCount
  let _: NSDeleteRule = r.deleteRule
  let _: Bool = r.isToMany
  let _: Bool = r.isOrdered
  let _: NSFetchRequest<NSFetchRequestResult>? = f.fetchRequest
  let _: CoreData.NSExpression? = x.expression
  let _: NSAttributeType = x.expressionResultType
  x.resultType = .string
  let _: CoreData.NSExpression? = d.derivationExpression
  let _: [NSAttributeDescription] = comp.elements
  let rules: [NSDeleteRule] = [.noActionDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule]
  _ = rules
  let types: [NSAttributeType] = [
    .undefinedAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
    .decimalAttributeType,
    .doubleAttributeType, .floatAttributeType, .stringAttributeType, .booleanAttributeType, .dateAttributeType,
    .binaryDataAttributeType, .UUIDAttributeType, .URIAttributeType, .transformableAttributeType,
    .objectIDAttributeType,
    .compositeAttributeType,
  ]
  _ = types
  let index = NSFetchIndexDescription(
    name: "i", elements: [NSFetchIndexElementDescription(property: r, collationType: .rTree)])
  let _: NSEntityDescription? = index.entity
  let _: NSPredicate? = index.partialIndexPredicate
  index.elements[0].isAscending = false
  let _: NSFetchIndexDescription? = index.elements[0].indexDescription
  let _: String? = index.elements[0].propertyName
  let _: NSFetchIndexElementType = index.elements[0].collationType
}

private func model(_ m: NSManagedObjectModel) throws {
  let _ = NSManagedObjectModel.mergedModel(from: nil)
  let _ = NSManagedObjectModel(byMerging: [m])
  let _ = NSManagedObjectModel.mergedModel(from: nil, forStoreMetadata: [:])
  let _ = NSManagedObjectModel(byMerging: [m], forStoreMetadata: [:])
  let _ = NSManagedObjectModel(contentsOf: URL(fileURLWithPath: "/a"))
  let _: [String: NSEntityDescription] = m.entitiesByName
  let _: [NSEntityDescription] = m.entities
  let _: [String] = m.configurations
  let _: [NSEntityDescription]? = m.entities(forConfigurationName: nil)
  m.setEntities([], forConfigurationName: "a")
  m.setFetchRequestTemplate(nil, forName: "a")
  let _: NSFetchRequest<NSFetchRequestResult>? = m.fetchRequestTemplate(forName: "a")
  let _: NSFetchRequest<NSFetchRequestResult>? = m.fetchRequestFromTemplate(withName: "a", substitutionVariables: [:])
  let _: [AnyHashable: Any]? = m.localizationDictionary
  let _: Bool = m.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:])
  let _: [String: Data] = m.entityVersionHashesByName
  let _: [String: NSFetchRequest<NSFetchRequestResult>] = m.fetchRequestTemplatesByName
  let _: Set<AnyHashable> = m.versionIdentifiers
  let _: String = m.versionChecksum
  let _: [String: String] = try NSManagedObjectModel.checksumsForVersionedModel(at: URL(fileURLWithPath: "/a"))
  let _ = m.copy() as! NSManagedObjectModel
}
