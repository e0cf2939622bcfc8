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
    conflicts = merge.conflicts.isEmpty ? Self.contradictions(merge, first, second) : merge.conflicts
  }

  /// The problems of the merged model that neither side has.
  private static func contradictions(
    _ merge: VersionMerge, _ first: ModelVersion, _ second: ModelVersion
  ) -> [VersionMerge.Conflict] {
    var problems: [PersistenceError]
    do {
      let known = Set((first.model.flaws + second.model.flaws + merge.flaws).map(\.message))
      let model = try merge.model
      problems = model.flaws.filter { !known.contains($0.message) }
      if [first, second].allSatisfy({ (try? $0.model.checkDerivations()) != nil }) { try model.checkDerivations() }
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
