public import Testing

extension Trait where Self == ConditionTrait {
  /// Runs a test only if the collection of real stores is available.
  public static var needsSharedData: Self {
    .enabled(
      if: SharedData.isAvailable,
      "Needs the collection of real Core Data stores: set PERSIST_SHARED_DATA or put it at ../shared/data.")
  }
}
