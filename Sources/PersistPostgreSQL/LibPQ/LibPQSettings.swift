import Persist

/// The settings of connections that the user leaves to Persist.
enum LibPQSettings {
  /// Adds the settings that are missing.
  ///
  /// The probes of idle connections find out within some seconds that a network is quiet, also while a statement runs
  /// on the server for long.
  static func completing(_ settings: [String: String], _ patience: ServerPatience) -> [String: String] {
    var all = settings
    all["client_encoding"] = "UTF8"
    if all["application_name"] == nil { all["fallback_application_name"] = "Persist" }
    func setIfMissing(_ name: String, _ value: Double) {
      if all[name] == nil { all[name] = String(Int(value.rounded(.up))) }
    }
    setIfMissing("connect_timeout", max(2, patience.connecting / .seconds(1)))
    setIfMissing("keepalives_idle", 2)
    setIfMissing("keepalives_interval", 1)
    setIfMissing("keepalives_count", max(2, patience.silence / .seconds(1)))
    return all
  }
}
