import Persist
public import Testing

extension Trait where Self == ConditionTrait {
  /// Runs tests of encrypted stores, for which the process needs SQLCipher's library. `Scripts/test` runs them in a
  /// second, short run with that library, and `Scripts/test --key` among all others.
  public static var needsEncryption: Self {
    .enabled(if: StoreEncryption.isAvailable, "Needs SQLCipher's library: 'Scripts/test --encryption' runs it.")
  }

  /// Runs tests of programs whose library can't encrypt.
  public static var needsPlainLibrary: Self {
    .enabled(if: !StoreEncryption.isAvailable, "About a library that can't encrypt, and this one can.")
  }

  /// Runs tests of the files of large values, which neither stores on servers nor encrypted ones have.
  public static var aboutFilesOfLargeValues: Self {
    .enabled(
      if: TestEngine.current == .sqlite && !TestKey.isUsed,
      "About large values in files, which these stores have in rows.")
  }

  /// Skips a test in runs with encrypted stores: it is about something that they don't have, or have in another form.
  ///
  /// - Parameter subject: What the test is about, such as "bytes of the file".
  public static func aboutPlainFiles(_ subject: String) -> Self {
    .enabled(if: !TestKey.isUsed, "About plain files: \(subject)")
  }
}
