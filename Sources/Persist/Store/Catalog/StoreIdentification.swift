/// Identifies the model of a store from the store's contents.
///
/// The command line shows the evidence as `modelFrom`, a ``ModelOrigin``: `fingerprint` if Persist's own record names a
/// version of the registry; `registry` if Core Data's hashes do, or if the structure of the embedded model matches a
/// version; `columns` if there is no embedded model and the tables fit a version; `embedded` if the embedded model is
/// used, because it is none of the versions or because there is no registry.
public enum StoreIdentification {}
