public import Foundation

/// The package's own folder: where `Package.swift` is.
public enum PackageFolder {
  public static let url = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The versioned sample models.
  public static var models: URL { url.appendingPathComponent("Models") }
}
