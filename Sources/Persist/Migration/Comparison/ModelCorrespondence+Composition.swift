extension ModelCorrespondence {
  /// Composes this correspondence with `next`: from this one's old model to the next one's new model.
  ///
  /// A default that an attribute gets in the first step is kept; properties that the version in between lacks have no
  /// source.
  func followed(by next: ModelCorrespondence) -> ModelCorrespondence {
    var whole = ModelCorrespondence()
    for (newest, middle) in next.entities {
      guard let oldest = entities[middle] else { continue }
      whole.entities[newest] = oldest
      whole.properties[newest] = next.properties[newest]?.mapValues { origin in
        guard let property = origin.source, let before = properties[middle]?[property] else {
          return Origin(source: nil, fill: origin.fill)
        }
        return Origin(source: before.source, fill: before.fill ?? origin.fill)
      }
    }
    return whole
  }
}
