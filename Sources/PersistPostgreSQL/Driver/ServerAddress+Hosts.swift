import Foundation
import Persist

/// Addresses with several hosts, one of which is the primary server.
extension ServerAddress {
  /// libpq's name of the setting that chooses among several hosts.
  private static let choice = "target_session_attrs"
  private static let choiceVariable = "PGTARGETSESSIONATTRS"

  /// Whether the server that is wanted may be any of several.
  var hasSeveralHosts: Bool {
    let own = [settings["host"], settings["hostaddr"]].compactMap { $0 }
    let hosts = own.isEmpty ? [ProcessInfo.processInfo.environment["PGHOST"] ?? ""] : own
    return hosts.contains { $0.contains(",") }
  }

  /// The address of the host that accepts writes, unless the address says which one to choose.
  var ofPrimary: ServerAddress { choosing("read-write") }

  /// The address of a host that repeats another one, unless the address says which one to choose.
  var ofReplica: ServerAddress { choosing("prefer-standby") }

  private func choosing(_ attributes: String) -> ServerAddress {
    guard hasSeveralHosts, settings[Self.choice] == nil,
      ProcessInfo.processInfo.environment[Self.choiceVariable] == nil
    else { return self }
    var address = self
    address.settings[Self.choice] = attributes
    return address
  }
}
