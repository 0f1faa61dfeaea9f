#pragma once

#include <span>
#include <string>
#include <vector>

#include "session/report_times.h"

namespace fusescope {

/// What one side has of a group.
struct MatrixCell {
  std::vector<std::string> kernels;  ///< names, for people
  std::vector<std::string> types;    ///< that they calculate in, each once
  KnownTime time;                    ///< of all of them
};

/// Kernels of all sides that cover the same nodes of the file, or all of a module.
struct MatrixRow {
  std::string name;                ///< for people: the nodes, or the module
  std::string module;              ///< that the first node is in; empty: none is told
  std::vector<std::string> nodes;  ///< of the file
  bool same = false;               ///< every side has the same kernels of them, in the same types
  std::vector<MatrixCell> cells;   ///< by side
};

struct MatrixColumn {
  std::string title;
  std::string id;                  ///< of the run; empty: it was not run
  std::optional<double> medianMs;  ///< of the whole run, timed by itself
  std::vector<std::string>
      unlike;  ///< what it was not timed alike in with the first side: then neither is the faster one
};

/// Any number of runs of one network side by side: rows are groups of kernels, columns runs.
struct RunMatrix {
  std::vector<MatrixColumn> columns;
  std::vector<MatrixRow> rows;  ///< in the order of the first side
};

/// Pure. Kernels in bodies come with the nodes that hold them.
RunMatrix runMatrix(std::span<const ReportSide> sides);
/// The same with a row for each module; what is in none keeps its row.
RunMatrix byModule(const RunMatrix& matrix);
/// {format "fusescope.matrix", version, columns[{ title, run, median_ms, unlike[] }], rows[{ name, module, nodes[],
/// same, cells[{ kernels[], types[], ms, how }] }]}
Json toJson(const RunMatrix& matrix);

}  // namespace fusescope
