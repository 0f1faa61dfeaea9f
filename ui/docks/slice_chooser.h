#pragma once

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QWidget>
#include <vector>

#include "session/runs/tensor_slice.h"

namespace fusescope {

/// Chooses which two axes of a tensor are rows and columns, and the index along each of the others.
class SliceChooser : public QWidget {
  Q_OBJECT

 public:
  explicit SliceChooser(QWidget* parent = nullptr);
  /// Sets the extents. It starts with usualSlice(); the choice is kept if the extents are unchanged.
  void setDims(const Dims& dims);
  const SliceChoice& choice() const { return m_choice; }
  void choose(const SliceChoice& choice);  ///< emits changed() if the choice differs
  /// Returns the field for the index of an axis; those of the two displayed axes are hidden.
  QSpinBox& index(int axis) { return *m_indices[static_cast<std::size_t>(axis)]; }
  QComboBox& rows() { return *m_rows; }
  QComboBox& columns() { return *m_columns; }

 signals:
  void changed();

 private:
  void takeAxes(bool rowsChanged);
  void show();

  Dims m_dims;
  SliceChoice m_choice;
  QComboBox *m_rows, *m_columns;
  QLabel *m_down, *m_across;
  std::vector<QLabel*> m_labels;
  std::vector<QSpinBox*> m_indices;
};

}  // namespace fusescope
