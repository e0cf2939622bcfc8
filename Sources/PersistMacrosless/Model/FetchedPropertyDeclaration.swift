import Persist

/// A class's declaration of a fetched property.
struct FetchedPropertyDeclaration: DescribedDeclaration {
  let modelName: String?
  let destination: ManagedObject.Type
  let predicate: String
  let sort: [FetchRequestDescription.Sort]
  let limit: Int
  let userInfo: [String: String]

  var valueType: Any.Type { [ManagedObject].self }
  var initialValue: (() -> StoredValue)? { nil }

  func problem(with property: Property) -> String? {
    property.fetchedProperty == nil ? "isn't a fetched property." : nil
  }

  func add(_ member: ClassDeclaration.Member, to entity: inout EntityDescription, _ plan: inout ModelFromClasses) {
    let place = PersistenceError.Place.property(entity.name, member.modelName)
    guard let name = plan.entityName(of: destination) else {
      plan.report(
        place, "'\(member.name)' fetches the class \(destination), which isn't one of the model's classes.",
        fix: "Add \(destination) to the model's classes.")
      return
    }
    do {
      _ = try FetchPredicate(predicate)
    } catch {
      plan.report(place, "The predicate '\(predicate)' can't be read: \(error)", fix: "Correct it.")
    }
    let request = FetchRequestDescription(entity: name, predicate: predicate, sort: sort, fetchLimit: limit)
    entity.fetchedProperties.append(FetchedPropertyDescription(member.modelName, request: request, userInfo: userInfo))
  }
}
