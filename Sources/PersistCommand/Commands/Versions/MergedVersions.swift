import Persist
import PersistTools

/// Two versions that grew from the same parent as one, with everything that prevents it.
struct MergedVersions {
  /// The text of the merged model's `contents` file.
  let contents: String
  /// The parts that both sides change in different ways, and those of one side that need one that the other removes.
  let conflicts: [VersionMerge.Conflict]

  init(parent: ModelVersion, first: ModelVersion, second: ModelVersion) throws {
    let merge = try VersionMerge(parent: parent, first: first, second: second)
    contents = merge.contents
    conflicts = merge.conflicts.isEmpty ? Self.contradictions(merge, between: first, and: second) : merge.conflicts
  }

  /// The problems of the merged model that neither side has.
  private static func contradictions(
    _ merge: VersionMerge, between first: ModelVersion, and second: ModelVersion
  ) -> [VersionMerge.Conflict] {
    var problems: [PersistenceError]
    do {
      let known = Set((first.model.flaws + second.model.flaws + merge.flaws).map(\.message))
      let model = try merge.model
      problems = model.flaws.filter { !known.contains($0.message) }
      if [first, second].allSatisfy({ (try? $0.model.checkDerivations()) != nil }) { try model.checkDerivations() }
      let present = Set((first.model.requestProblems + second.model.requestProblems).map(\.description))
      problems += model.requestProblems.filter { !present.contains($0.description) }
    } catch let error as PersistenceError {
      problems = error.errors.isEmpty ? [error] : error.errors
    } catch {
      problems = [PersistenceError(.invalidModel, "\(error)")]
    }
    return problems.map { problem in
      let place = [problem.place.entity, problem.place.property].compactMap { $0 }.joined(separator: ".")
      return VersionMerge.Conflict(
        place: place.isEmpty ? "the model" : place,
        what: "'\(first.name)' and '\(second.name)' don't go together: \(problem.message)")
    }
  }
}

extension ManagedObjectModel {
  /// The named requests and fetched properties whose predicate or order names a property that doesn't exist. A model
  /// with them is valid, but they can't be executed.
  fileprivate var requestProblems: [PersistenceError] {
    let templates = description.fetchRequestTemplates.sorted { $0.key < $1.key }.map { name, request in
      (what: "The fetch request '\(name)'", place: PersistenceError.Place.entity(request.entity), request: request)
    }
    let properties = description.entities.flatMap { entity in
      entity.fetchedProperties.map { property in
        (
          what: "The fetched property", place: PersistenceError.Place.property(entity.name, property.name),
          request: property.request
        )
      }
    }
    return (templates + properties).compactMap { what, place, request in
      do {
        try check(request)
        return nil
      } catch {
        let reason = (error as? PersistenceError)?.message ?? "\(error)"
        return PersistenceError(.invalidModel, at: place, "\(what) can't be executed: \(reason)")
      }
    }
  }

  private func check(_ description: FetchRequestDescription) throws {
    guard let entity = entitiesByName[description.entity] else { return }
    let request = try FetchRequest<ManagedObject>(description)
    for descriptor in request.sortDescriptors { try SortCheck.check(descriptor, of: entity, in: self) }
    var expressions: [FetchExpression] = []
    request.predicate?.forEachComparison { expressions += [$0.left, $0.right] }
    // Variables may have any value.
    for expression in expressions { try PredicateCheck.check(expression, where: "", is: entity, in: self) }
  }
}
