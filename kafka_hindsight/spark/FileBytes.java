package hindsight;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayDeque;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.deploy.SparkHadoopUtil;
import org.apache.spark.sql.api.java.UDF3;
import org.apache.spark.util.TaskCompletionListener;

/**
 * Bytes of files, through the file systems that Spark knows: as a function of a URI, an offset and a length, called
 * where Spark runs. The file of the call before stays open, so that what one task reads of a name is of one file.
 * Null where the file cannot be opened; fewer bytes than were asked for where it ends before.
 */
public class FileBytes implements UDF3, Serializable {
    private static final ThreadLocal OPENED = new ThreadLocal();

    public Object call(Object uri, Object offset, Object length) {
        try {
            Opened file = (Opened) OPENED.get();
            if (file == null || file.isClosed || !file.uri.equals(uri)) {
                close();
                file = new Opened((String) uri);
                OPENED.set(file);
                closeWithTask();
            }
            return file.read(((Long) offset).longValue(), ((Integer) length).intValue());
        } catch (IOException gone) {
            close();
            return null;
        }
    }

    private static void closeWithTask() {
        TaskContext task = TaskContext.get();
        if (task != null) {
            final Opened file = (Opened) OPENED.get();
            task.addTaskCompletionListener(new TaskCompletionListener() {
                public void onTaskCompletion(TaskContext ended) {
                    file.close();
                }
            });
        }
    }

    private static void close() {
        Opened file = (Opened) OPENED.get();
        OPENED.remove();
        if (file != null) {
            file.close();
        }
    }

    private static class Opened {
        private final String uri;
        private final FSDataInputStream stream;
        private boolean isClosed;

        Opened(String uri) throws IOException {
            this.uri = uri;
            Path path = new Path(java.net.URI.create(uri));
            this.stream = path.getFileSystem(SparkHadoopUtil.get().conf()).open(path);
        }

        byte[] read(long offset, int length) throws IOException {
            byte[] bytes = new byte[length];
            int read = 0;
            stream.seek(offset);
            while (read < length) {
                int more = stream.read(bytes, read, length - read);
                if (more < 0) {
                    return java.util.Arrays.copyOf(bytes, read);
                }
                read += more;
            }
            return bytes;
        }

        void close() {
            isClosed = true;
            try {
                stream.close();
            } catch (IOException ignored) {
                return;
            }
        }
    }
}
