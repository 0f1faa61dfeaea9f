#pragma once

#include <span>
#include <string>
#include <vector>

#include "session/reports/report_times.h"

namespace fusescope {

/// The kernels of one side in a group.
struct MatrixCell {
  std::vector<std::string> kernels;  ///< names, for people
  std::vector<std::string> types;    ///< the types in which they calculate, without duplicates
  KnownTime time;                    ///< the total time of all of them
};

/// Kernels of all sides that cover the same nodes of the file, or all kernels of a module.
struct MatrixRow {
  std::string name;                ///< the nodes or the module, for people
  std::string module;              ///< the module of the first node; empty: unknown
  std::vector<std::string> nodes;  ///< of the file
  bool same = false;               ///< every side has the same kernels for the nodes, in the same types
  std::vector<MatrixCell> cells;   ///< for each side
};

struct MatrixColumn {
  std::string title;
  std::string id;                   ///< id of the run; empty: it was not run
  std::optional<double> medianMs;   ///< the separately timed whole run
  std::vector<std::string> unlike;  ///< conditions in which its timing differs from that of the first side; if there
                                    ///< are any, neither is called faster
};

/// Any number of runs of one network side by side: rows are groups of kernels, columns are runs.
struct RunMatrix {
  std::vector<MatrixColumn> columns;
  std::vector<MatrixRow> rows;  ///< in the order of the first side
};

/// Makes the matrix. It is a pure function. Kernels in bodies are included in the row of their holders.
RunMatrix runMatrix(std::span<const ReportSide> sides);
/// Returns the matrix with one row for each module; rows without a module are unchanged.
RunMatrix byModule(const RunMatrix& matrix);
/// Returns {format "fusescope.matrix", version, columns[{ title, run, median_ms, unlike[] }], rows[{ name, module,
/// nodes[], same, cells[{ kernels[], types[], ms, how }] }]}.
Json toJson(const RunMatrix& matrix);

}  // namespace fusescope
