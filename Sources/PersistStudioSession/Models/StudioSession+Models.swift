import Foundation
import Persist
import PersistInspection

extension StudioSession {
  /// The version that a parameter names: a number in the list of versions, or the store's own.
  private func version(_ name: String?) throws -> ModelVersion {
    if name == nil || name == "store" {
      return ModelVersion(name: store.versionName ?? StoreArgument.shortName(of: store.url), model: store.model)
    }
    let versions = store.registry?.versions ?? []
    guard let name, let index = Int(name), versions.indices.contains(index) else {
      throw PersistenceError(.modelNotFound, "There is no such model version.", fix: "Reload the page.")
    }
    return versions[index]
  }

  /// A picture of a version, or of the differences of two.
  func diagram(_ request: StudioRequest) throws -> StudioAnswer {
    let new = try version(request.parameters["version"])
    let picture: ModelPicture
    if let from = request.parameters["from"] {
      let old = try version(from)
      let registry = store.registry
      let isOfOneFamily = registry?.family(of: old) != nil && registry?.family(of: new) != nil
      let plan = try MigrationPlan(from: old, to: new, registry: isOfOneFamily ? registry : nil)
      picture = ModelPicture(from: old, to: new, operations: plan.steps.map(\.operation))
    } else {
      picture = ModelPicture(of: new)
    }
    let isFile = request.parameters["download"] != nil
    return StudioAnswer(
      contentType: "image/svg+xml; charset=utf-8", fileName: isFile ? "\(picture.title).svg" : nil,
      body: .data(Data(PictureDrawing(picture).svg(withStyle: isFile).utf8)))
  }

  /// The style sheet of the pictures, which the page applies itself: its policy admits no styles within documents.
  func diagramStyle() -> StudioAnswer {
    StudioAnswer(contentType: "text/plain; charset=utf-8", body: .data(Data(PictureStyle.sheet.utf8)))
  }

  /// The versions of the given models, the store's among them, and the log of its migrations.
  func versions() throws -> StudioAnswer {
    let metadata = try PersistentStoreCoordinator.metadata(at: store.url)
    return StudioAnswer.json { json in
      json.field("version", store.versionName)
      json.field("modelFrom", store.origin.rawValue)
      json.key("versions")
      json.array { json in
        var number = 0
        for family in store.registry?.families ?? [] {
          for version in family.versions {
            json.object {
              $0.field("number", number)
              $0.field("family", family.name)
              $0.field("name", version.name)
              $0.field("isCurrent", version.name == family.current.name)
              $0.field("isStores", version.model.fingerprints == store.model.fingerprints)
            }
            number += 1
          }
        }
      }
      json.field("log", of: metadata.migrationLog) { json, entry in
        json.object {
          $0.field("date", DateText.iso8601(entry.date))
          $0.field("from", entry.from)
          $0.field("to", entry.to)
          $0.field("way", entry.way.rawValue)
          $0.field("rows", entry.rows)
          $0.field("seconds", entry.seconds)
        }
      }
    }
  }

  /// The migration of the store to a version, without running it.
  func plan(_ request: StudioRequest) throws -> StudioAnswer {
    let version = try version(request.parameter("to"))
    guard let registry = store.registry else { throw MigrationTrial.withoutModels(store) }
    let plan = try MigrationPlan(storeAt: store.url, to: version, registry: registry)
    return StudioAnswer.json { json in
      json.fields(of: plan)
      json.field("isPossible", plan.isPossible)
      json.fields("lost", plan.lost)
      json.fields("kept", plan.shownParked)
      json.field("text", plan.description)
    }
  }
}
