import Foundation
import Persist

extension ProgressBar {
  /// Shows the progress of a migration: pass and entity, and the remaining time.
  mutating func show(_ progress: MigrationProgress) { show(progress.fraction, detail: Self.detail(progress)) }

  static func detail(_ progress: MigrationProgress) -> String {
    let hop = progress.hop.count > 1 ? "hop \(progress.hop.number) of \(progress.hop.count)" : nil
    let work = [progress.pass.words, progress.entity].compactMap { $0 }.joined(separator: " ")
    let left = progress.timeLeft.map { "\(Measure.duration(seconds: ($0 / .seconds(1)).rounded(.up))) left" }
    return [left, hop, work].compactMap { $0 }
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }
}

extension MigrationProgress.Pass {
  fileprivate var words: String {
    switch self {
    case .inPlace: "changing"
    case .stage: "custom stage"
    case .objects: "copying"
    case .relationships: "connecting"
    case .validation: "validating"
    case .exchange: "replacing files"
    case .done: ""
    default: rawValue
    }
  }
}
